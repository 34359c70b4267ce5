import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisProgram } from '../../../tools/embedded/redis-program.ts';
import { Supervisor } from '../../../tools/embedded/supervised.ts';
import { listenOn, stopListening } from '../../../tools/simulator/wallet/listener.ts';

/**
 * Redis with its own configuration, such as a node of a cluster or a Sentinel, in a folder that is removed with it.
 */
export async function startRedisProcess(
  lines: readonly string[],
  args: readonly string[] = [],
): Promise<{ stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-redis-'));
  const file = join(folder, 'redis.conf');
  await writeFile(file, `${['bind 127.0.0.1', `dir ${folder}`, ...lines].join('\n')}\n`);
  const supervisor = new Supervisor({});
  supervisor.stdout?.resume();
  supervisor.stderr?.resume();
  const program = await redisProgram(() => undefined);
  await supervisor.run({
    file: program.file,
    args: [...program.args, file, ...args],
    stopSignal: 'SIGKILL',
  });
  return {
    stop: async () => {
      await supervisor.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listenOn(probe, 0);
  await stopListening(probe);
  return port;
}
