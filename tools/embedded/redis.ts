import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { chooseServerFolder, writeSecret } from './folder.ts';
import { type RedisProgram, redisProgramFor } from './redis-program.ts';
import { type EmbeddedServer, startServer } from './server.ts';

export interface RedisOptions {
  /** Additional settings, by their names in `redis.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called before something slow; writes to stderr by default. */
  readonly log?: (line: string) => void;
}

/**
 * Starts a private `redis-server` on 127.0.0.1 without data on disk, which ends with this process.
 * @throws Error with one line that says what to do
 */
export async function startRedis(options: RedisOptions = {}): Promise<EmbeddedServer> {
  const log = options.log ?? ((line: string) => process.stderr.write(`${line}\n`));
  const folder = await chooseServerFolder('redis');
  const password = randomBytes(18).toString('base64url');
  let program: RedisProgram | undefined;
  return startServer({
    name: 'Redis',
    folder,
    async prepare() {
      program = await redisProgramFor(folder, log);
      // In a file, because the process list would show the password.
      const settings = settingsOf(folder.path, password, options.settings);
      await writeSecret(folder, CONFIGURATION, settings);
    },
    command: (port) => {
      if (program === undefined) throw new Error('Redis was not prepared');
      return {
        file: program.file,
        args: [...program.args, join(folder.path, CONFIGURATION), '--port', String(port)],
        user: folder.user,
        stopSignal: 'SIGKILL',
      };
    },
    // With the user's name, because redis-cli 7.0 takes an empty one for a user named "".
    url: (port) => `redis://default:${password}@127.0.0.1:${port}`,
    isReady: async (port, pid) => (await pidBehind(port, password)) === pid,
    restartSignal: 'SIGTERM',
  });
}

const CONFIGURATION = 'redis.conf';

function settingsOf(folder: string, password: string, more: RedisOptions['settings'] = {}): string {
  const settings = {
    bind: '127.0.0.1',
    requirepass: password,
    save: '""',
    appendonly: 'no',
    'maxmemory-policy': 'noeviction',
    dir: `"${folder}"`,
    ...more,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('');
}

/** The process id that the server on this port reports, if one answers. */
async function pidBehind(port: number, password: string): Promise<number | undefined> {
  const redis = new Redis({
    host: '127.0.0.1',
    port,
    password,
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: null,
  });
  // Not ready yet, or another server that does not know our password: the caller tries again.
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    const found = /^process_id:(\d+)/m.exec(await redis.info('server'));
    return found === null ? undefined : Number(found[1]);
  } catch {
    return undefined;
  } finally {
    redis.disconnect();
  }
}
