import { randomBytes } from 'node:crypto';
import { chown, lchown, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { User } from './supervisor.ts';

/** `nobody` on Linux. PostgreSQL refuses to run as root, and Redis does not need to. */
const NOBODY: User = { uid: 65534, gid: 65534 };

export interface ServerFolder {
  readonly path: string;
  /** The user who runs the server and owns the folder, if that is not ourselves. */
  readonly user: User | undefined;
}

/** Chooses a temporary folder without creating it: whoever removes it must know about it first. */
export async function chooseServerFolder(name: string, root?: string): Promise<ServerFolder> {
  const user = process.getuid?.() === 0 ? NOBODY : undefined;
  const unique = randomBytes(8).toString('hex');
  const parent = root ?? (await temporaryRoot(user));
  return { path: join(parent, `wagergate-${name}-${unique}`), user };
}

/** Creates a chosen folder, readable only by its server. */
export async function makeServerFolder({ path, user }: ServerFolder): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

/** Writes a file into the folder that only the server can read. */
export async function writeSecret(
  { path, user }: ServerFolder,
  name: string,
  content: string,
): Promise<string> {
  const file = join(path, name);
  await writeFile(file, content, { mode: 0o600 });
  if (user !== undefined) await chown(file, user.uid, user.gid);
  return file;
}

/** Gives a folder and its content to the user who runs the server. */
export async function giveTo(user: User, path: string): Promise<void> {
  await chown(path, user.uid, user.gid);
  const entries = await readdir(path, { recursive: true });
  await Promise.all(entries.map((entry) => lchown(join(path, entry), user.uid, user.gid)));
}

/** The usual temporary folder, or `/tmp` if another user could not enter the usual one. */
async function temporaryRoot(user: User | undefined): Promise<string> {
  const usual = tmpdir();
  return user === undefined || (await openToAll(usual)) ? usual : '/tmp';
}

/** Whether every user can run this program or enter this folder, and every folder above it. */
export async function openToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  if ((mode & 0o001) === 0) return false;
  const parent = dirname(path);
  return parent === path || openToAll(parent);
}
