import autocannon from 'autocannon';
import { percentile } from '../support/figures.ts';
import { machineMs } from '../support/machine-clock.ts';
import { type LoadJob, type LoadResult, PATHS } from './load-job.ts';
import { prepare } from './requests.ts';

/** Sends all of a job's requests. */
export async function byAutocannon(job: LoadJob): Promise<LoadResult> {
  const requests = prepare(job);
  const statusOf = new Map<string, number>();
  const durationsMs: number[] = [];
  let next = 0;
  let lastAtMs = 0;
  const startedAtMs = machineMs();
  const { errors } = await autocannon({
    url: job.url + PATHS[job.operation],
    connections: job.connections,
    amount: job.bets,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    setupClient: (client) => {
      let current = '';
      client.setRequests([
        {
          setupRequest: (request) => {
            const bet = requests[next];
            if (bet === undefined) throw new Error('more requests than bets');
            next += 1;
            current = bet.transactionId;
            const headers = { ...request.headers, 'x-sign-jws': bet.signature };
            return { ...request, headers, body: bet.body };
          },
        },
      ]);
      client.on('response', (status, _bytes, durationMs) => {
        lastAtMs = machineMs();
        statusOf.set(current, status);
        durationsMs.push(durationMs);
      });
    },
  });
  durationsMs.sort((a, b) => a - b);
  return {
    answered: statusOf.size,
    startedAtMs,
    elapsedMs: lastAtMs - startedAtMs,
    p50Ms: percentile(durationsMs, 0.5),
    p99Ms: percentile(durationsMs, 0.99),
    connectionErrors: errors,
    statuses: Object.fromEntries(
      [...Map.groupBy(statusOf.values(), String)].map(([status, all]) => [status, all.length]),
    ),
    accepted: [...statusOf].flatMap(([id, status]) => (status === 200 ? [id] : [])),
  };
}
