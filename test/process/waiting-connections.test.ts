import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openDeployment } from './support/deployment.ts';

/** More than Node requests by default, fewer than Linux allows. */
const CONNECTIONS = 1_000;
const SOMAXCONN = '/proc/sys/net/core/somaxconn';

it('connections wait while a process stands still, and none has to try again', async ({ skip }) => {
  const allowed = Number(await readFile(SOMAXCONN, 'utf8').catch(() => '0'));
  skip(allowed < CONNECTIONS, 'the system lets fewer wait');
  const deployment = await openDeployment();
  onTestFinished(() => deployment.close());
  const { baseUrl, process: gateway } = await deployment.replica({ ROLES: 'http' });
  const { port, hostname } = new URL(baseUrl);
  process.kill(gateway.pid, 'SIGSTOP');
  const sockets = Array.from({ length: CONNECTIONS }, () =>
    // Later errors are ignored; earlier ones are reported by `once`.
    connect(Number(port), hostname).on('error', () => undefined),
  );
  try {
    // A kernel without room for a connection leaves it unanswered until somebody accepts.
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    expect(sockets.filter(({ pending }) => pending)).toEqual([]);
  } finally {
    process.kill(gateway.pid, 'SIGCONT');
    for (const socket of sockets) socket.destroy();
  }
});
