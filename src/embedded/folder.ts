import { chmod, chown, lchown, mkdtemp, readdir, stat } from 'node:fs/promises';
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

/** Makes a temporary folder that a server may own and that nobody else can read. */
export async function createServerFolder(name: string): Promise<ServerFolder> {
  const user = process.getuid?.() === 0 ? NOBODY : undefined;
  const path = await mkdtemp(join(await temporaryRoot(user), `wagergate-${name}-`));
  await chmod(path, 0o700);
  if (user !== undefined) await chown(path, user.uid, user.gid);
  return { path, user };
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

async function openToAll(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  if ((mode & 0o001) === 0) return false;
  const parent = dirname(path);
  return parent === path || openToAll(parent);
}
