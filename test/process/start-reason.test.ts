import { createServer } from 'node:net';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment/environment.ts';
import { awaitDatabase } from '../../src/process/start-up.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock();
let connections = 0;

/** Ends the first connection, late, and sends nothing to the next. */
const server = createServer((socket) => {
  connections += 1;
  clock.atMs += connections === 1 ? 14_700 : 300;
  if (connections === 1) socket.destroy();
  socket.resume();
});
afterEach(() => stopListening(server));

it('names the reason that PostgreSQL gave where the last try had no time to hear one', async () => {
  const port = await listenOn(server, 0);
  const environment = readEnvironment({
    DATABASE_URL: `postgresql://user:geheim@127.0.0.1:${port}/gateway`,
    REDIS_URL: 'redis://127.0.0.1:1',
  });
  await expect(awaitDatabase(environment, clock, pino({ level: 'silent' }))).rejects.toThrow(
    /cannot be reached: Connection terminated unexpectedly$/,
  );
  expect(connections).toBe(2);
});
