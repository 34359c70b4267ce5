import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { isOnPath } from '../lib/command.ts';
import { debianPackage } from '../lib/debian-package.ts';
import { giveTo, openToAll, type ServerFolder } from './folder.ts';

/** How to run `redis-server`: its own arguments follow `args`. */
export interface RedisProgram {
  readonly file: string;
  readonly args: readonly string[];
}

const WHAT_TO_DO =
  'install redis-server (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis)';

/**
 * The `redis-server` on `PATH`, or one from Debian's packages, fetched once and not installed.
 * @param log called before something is fetched @throws Error that says what to do, if there is neither
 */
export async function redisProgram(log: (line: string) => void): Promise<RedisProgram> {
  return isOnPath('redis-server') ? INSTALLED : programIn(await fetchedRedis(log));
}

/** The same for the user of a server folder, who may not be able to read it: copied into the folder. */
export async function redisProgramFor(
  folder: ServerFolder,
  log: (line: string) => void,
): Promise<RedisProgram> {
  if (folder.user === undefined || isOnPath('redis-server')) return redisProgram(log);
  const fetched = await fetchedRedis(log);
  if (await openToAll(join(fetched, PROGRAM))) return programIn(fetched);
  const copy = join(folder.path, 'redis');
  await cp(fetched, copy, { recursive: true, verbatimSymlinks: true });
  await giveTo(folder.user, copy);
  return programIn(copy);
}

/** Its path in Debian's package. */
const PROGRAM = 'usr/bin/redis-server';
const INSTALLED: RedisProgram = { file: 'redis-server', args: [] };

async function fetchedRedis(log: (line: string) => void): Promise<string> {
  try {
    return await debianPackage({ name: 'redis-server', withDependencies: true, log });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${why}: ${WHAT_TO_DO}`, { cause });
  }
}

/** Runs it with the libraries of its package; `env` is replaced by the server, so that its pid is the server's. */
function programIn(root: string): RedisProgram {
  const machine = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const libraries = ['usr/lib', 'lib']
    .map((folder) => join(root, folder, machine))
    .filter((folder) => existsSync(folder));
  return { file: 'env', args: [`LD_LIBRARY_PATH=${libraries.join(':')}`, join(root, PROGRAM)] };
}
