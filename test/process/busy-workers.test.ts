import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { PATIENT_MS } from '../support/timing.ts';
import { openDeployment } from './support/deployment.ts';

const TOTAL_MS = 2_000;
const TURN_MS = 50;
const WORKERS = 2;
const BETS = 400;

/** In a worker process each turn takes a while, as with many requests. */
const BUSY = `
  import cluster from 'node:cluster';
  import { Server } from 'node:http';
  const emit = Server.prototype.emit;
  if (cluster.isWorker) Server.prototype.emit = function (event, ...args) {
    const endsAtMs = performance.now() + ${TURN_MS};
    while (event === 'connection' && performance.now() < endsAtMs);
    return emit.call(this, event, ...args);
  };`;

/** A replica with busy workers, and a player. */
async function busyReplica(totalMs: number) {
  const deployment = await openDeployment({ gateway: { deadline: { totalMs } } });
  onTestFinished(() => deployment.close());
  const { baseUrl } = await deployment.replica({
    WORKERS: String(WORKERS),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BUSY)}`,
  });
  return { baseUrl, player: await deployment.player(baseUrl) };
}

it('a place that waited for a busy worker process for longer than a callback may take is not sent (I1)', async () => {
  const { baseUrl, player } = await busyReplica(TOTAL_MS);
  // It waits long enough to see late acceptances. Each bet has its own connection: one that waits for another's is
  // sent later than it seems, and rightly accepted.
  const patience = { timeoutMs: 4 * PATIENT_MS, connectionsMax: BETS };
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0, ...patience });
  onTestFinished(() => service.close());
  const placed = await Promise.all(
    Array.from({ length: BETS }, () => service.place({ ...player, amount: '0.01' })),
  );
  const accepted = placed.filter(({ kind }) => kind === 'accepted').length;
  // One connection per turn: no more can have been read in time.
  expect(accepted).toBeLessThan((2 * WORKERS * TOTAL_MS) / TURN_MS);
  // On a busy machine that may be none; once nobody waits any more, bets are accepted as usual.
  const next = async () => (await service.place({ ...player, amount: '0.01' })).kind;
  await expect.poll(next, { timeout: 40_000 }).toBe('accepted');
}, 120_000);

it('a place does not wait behind thousands of callers that have given up: a second is all it would lose to them (I1)', async () => {
  const { baseUrl, player } = await busyReplica(4_800);
  const { hostname, port } = new URL(baseUrl);
  const callers = Array.from({ length: 2 * BETS }, () =>
    connect({ host: hostname, port: Number(port) }).on('error', () => undefined),
  );
  await Promise.all(callers.map((socket) => once(socket, 'connect')));
  for (const socket of callers) socket.end('GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n');
  const cameAtMs = performance.now();
  await vi.waitUntil(() => performance.now() - cameAtMs > 2_000, { timeout: 10_000 });
  // The workers take some twenty seconds to read what has come.
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  onTestFinished(() => service.close());
  const { kind } = await service.place({ ...player, amount: '0.01' });
  for (const socket of callers) socket.destroy();
  expect(kind).toBe('accepted');
}, 120_000);
