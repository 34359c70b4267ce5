import { randomBytes } from 'node:crypto';
import { chown, lchown, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { User } from './supervisor.ts';

/** `nobody` on Linux. PostgreSQL refuses to run as root, and Redis has no need to. */
const NOBODY: User = { uid: 65534, gid: 65534 };

export interface ServerFolder {
  readonly path: string;
  /** Who the server runs as and the folder belongs to, when that is not ourselves. */
  readonly user: User | undefined;
}

/**
 * Chooses a temporary folder, below `root` if given, without making it: who is to remove it is told of it first, so that
 * there is no moment at which we could be killed and leave it behind.
 */
export async function chooseServerFolder(name: string, root?: string): Promise<ServerFolder> {
  const user = process.getuid?.() === 0 ? NOBODY : undefined;
  const unique = randomBytes(8).toString('hex');
  const parent = root ?? (await temporaryRoot(user));
  return { path: join(parent, `wagergate-${name}-${unique}`), user };
}

/** Makes a chosen folder, readable for its server alone. */
export async function makeServerFolder({ path, user }: ServerFolder): Promise<void> {
  await mkdir(path, { mode: 0o700 });
  if (user !== undefined) await chown(path, user.uid, user.gid);
}

/** Writes a file into the folder that the server, and nobody else, can read. */
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

/** Hands a folder and all that is in it to the user that the server runs as. */
export async function giveTo(user: User, path: string): Promise<void> {
  await chown(path, user.uid, user.gid);
  const entries = await readdir(path, { recursive: true });
  await Promise.all(entries.map((entry) => lchown(join(path, entry), user.uid, user.gid)));
}

/** The usual temporary folder, or `/tmp` where another user could not get into the usual one. */
async function temporaryRoot(user: User | undefined): Promise<string> {
  const usual = tmpdir();
  return user === undefined || (await openToAll(usual)) ? usual : '/tmp';
}

/** Whether every user may run this program or enter this folder, and all folders that it lies in. */
export async function openToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  if ((mode & 0o001) === 0) return false;
  const parent = dirname(path);
  return parent === path || openToAll(parent);
}
