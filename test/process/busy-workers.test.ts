import { expect, it, onTestFinished } from 'vitest';
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

it('a place that waited for a busy worker process for longer than a callback may take is not sent (I1)', async () => {
  const deployment = await openDeployment({ gateway: { deadline: { totalMs: TOTAL_MS } } });
  onTestFinished(() => deployment.close());
  const { baseUrl } = await deployment.replica({
    WORKERS: String(WORKERS),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(BUSY)}`,
  });
  const player = await deployment.player(baseUrl);
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
