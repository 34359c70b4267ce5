import { readFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { type SigningKey, sign, signingKeys } from '../../src/protocol/signature.ts';
import type { LoadJob, LoadResult } from './load-job.ts';

/**
 * Sends place bets, each with a `transactionId` of its own, as fast as they are answered. Argument:
 * the file of a `LoadJob`; prints a `LoadResult`. Bodies are made and signed before the clock starts.
 */

const job: LoadJob = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const bets = prepare(job);
const statusOf = new Map<string, number>();
const durationsMs: number[] = [];
let next = 0;
let lastAtMs = 0;

const startedAtMs = monotonicMs();
const { errors } = await autocannon({
  url: job.url,
  connections: job.connections,
  amount: job.bets,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  setupClient: (client) => {
    let current = '';
    client.setRequests([
      {
        setupRequest: (request) => {
          const bet = bets[next];
          if (bet === undefined) throw new Error('more requests than bets');
          next += 1;
          current = bet.transactionId;
          const headers = { ...request.headers, 'x-sign-jws': bet.signature };
          return { ...request, headers, body: bet.body };
        },
      },
    ]);
    client.on('response', (status, _bytes, durationMs) => {
      lastAtMs = monotonicMs();
      statusOf.set(current, status);
      durationsMs.push(durationMs);
    });
  },
});

durationsMs.sort((a, b) => a - b);
const result: LoadResult = {
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
console.log(JSON.stringify(result));

function prepare({ prefix, bets: count, players, secret, connections }: LoadJob) {
  const [key] = signingKeys([secret]);
  if (key === undefined) throw new Error('a secret gives a key');
  // A broken connection takes its bet with it and goes on with another.
  return Array.from({ length: count + connections }, (_, n) => {
    const player = players[n % players.length];
    if (player === undefined) throw new Error('no players');
    return signedBet(`${prefix}${n}`, player, key);
  });
}

function signedBet(transactionId: string, player: LoadJob['players'][number], key: SigningKey) {
  const slip = { transactionId, ...player, amount: '12.10', coefficient: '1.85' };
  const body = Buffer.from(placeBody({ ...slip, bonusId: null, bonusTemplateId: null }));
  return { transactionId, body, signature: sign(body, key) };
}

/** The same clock in every process of the machine. */
function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** @param sorted ascending */
function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
