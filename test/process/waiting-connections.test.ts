import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openDeployment } from './support/deployment.ts';

/** More than Node asks for, fewer than Linux allows. */
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
    // What becomes of it later is told by nobody; before, `once` tells.
    connect(Number(port), hostname).on('error', () => undefined),
  );
  try {
    // A kernel that has no room for one leaves it unanswered for as long as nobody accepts.
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    expect(sockets.filter(({ pending }) => pending)).toEqual([]);
  } finally {
    process.kill(gateway.pid, 'SIGCONT');
    for (const socket of sockets) socket.destroy();
  }
});
