import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openStartingListener } from '../../src/http/starting-listener.ts';
import { freePort } from '../redis/support/redis-process.ts';

/** More than it lets in. */
const SILENT = 40;

it('lets a probe in soon where strangers hold all connections and say nothing (I7)', async () => {
  const port = await freePort();
  const close = await openStartingListener({ host: '127.0.0.1', port });
  onTestFinished(close);
  const strangers: Socket[] = [];
  onTestFinished(() => {
    for (const socket of strangers) socket.destroy();
  });
  for (let count = 0; count < SILENT; count += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    strangers.push(socket);
    await once(socket, 'connect');
  }
  const ask = () =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      ({ status }) => status,
      () => 'refused',
    );
  expect(await ask()).toBe('refused');
  await expect.poll(ask, { timeout: 15_000, interval: 200 }).toBe(503);
}, 20_000);
