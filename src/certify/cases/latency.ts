import type { RecordedCall } from '../calls/recorded-call.ts';
import { advised, type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import { stakes } from '../trial/money.ts';
import type { Trial } from '../trial/trial.ts';

/** The percentile of sorted durations, in milliseconds. */
export function percentile(sortedMs: readonly number[], share: number): number {
  const at = Math.max(0, Math.ceil(sortedMs.length * share) - 1);
  return sortedMs[at] ?? 0;
}

function judge(trial: Trial, recordedCalls: readonly RecordedCall[], what: string): void {
  const { warnMs, failMs } = trial.context.latency;
  const sorted = recordedCalls.map(({ ms }) => ms).sort((a, b) => a - b);
  const [p50, p95, max] = [0.5, 0.95, 1].map((share) => Math.round(percentile(sorted, share)));
  const silent = recordedCalls.filter(({ exchange }) => exchange.kind !== 'response').length;
  const measured = `${what}: p50 ${p50} ms, p95 ${p95} ms, slowest ${max} ms`;
  if (silent > 0) trial.fail(`${measured}, ${silent} without an answer`);
  else if ((max ?? 0) > failMs) trial.fail(`${measured}: above ${failMs} ms`);
  else if ((max ?? 0) > warnMs) trial.warn(`${measured}: above ${warnMs} ms`);
  else trial.remark(measured);
}

async function balances(trial: Trial, count: number): Promise<void> {
  const recordedCalls = await Promise.all(Array.from({ length: count }, () => trial.balance()));
  for (const recorded of recordedCalls) trial.accepts(recorded);
  judge(trial, recordedCalls, `${count} balances at once`);
}

async function places(trial: Trial, count: number): Promise<void> {
  const calls = Array.from({ length: count }, () => trial.place(trial.slip()));
  const recordedCalls = await Promise.all(calls);
  for (const recorded of recordedCalls) trial.accepts(recorded);
  judge(trial, recordedCalls, `${count} places at once`);
  await trial.moved(stakes(count, '1'), `${count} places of 1`);
}

const IN_TIME =
  'each answered while the gateway waits (4 s, unless the aggregator has set another time); a call above 2 s, or half of that time, is a warning';

const usual = {
  rule: RULES.latency,
  money: false,
  meaning: 'costs_money',
  // A busy wallet's latency differs each time.
  byChance: true,
} as const;

const FASTER =
  'Answer within a second, also when many players bet at once: a place that takes longer than the gateway waits is rolled back, and the bet is lost to you. The header x-deadline-ms says how long that is.';

export const latencyCases: readonly Case[] = group(
  'latency',
  usual,
  advised(FASTER, [
    {
      id: 'latency-balance-10',
      title: '10 balances at the same time are answered in time',
      expected: IN_TIME,
      run: (trial) => balances(trial, 10),
    },
    {
      id: 'latency-balance-50',
      title: '50 balances at the same time are answered in time',
      expected: IN_TIME,
      run: (trial) => balances(trial, 50),
    },
    {
      id: 'latency-place-10',
      title: '10 places at the same time are answered in time',
      expected: `${IN_TIME}; the balance falls by all of them`,
      money: true,
      run: (trial) => places(trial, 10),
    },
    {
      id: 'latency-place-50',
      title: '50 places at the same time are answered in time',
      expected: `${IN_TIME}; the balance falls by all of them`,
      money: true,
      run: (trial) => places(trial, 50),
    },
    {
      id: 'latency-one-by-one',
      title: 'A bet and its rollback, one by one, are answered in time',
      expected: IN_TIME,
      run: async (trial) => {
        const recordedCalls: RecordedCall[] = [];
        for (let bet = 0; bet < 5; bet += 1) {
          const slip = trial.slip();
          recordedCalls.push(await trial.place(slip), await trial.rollback(slip));
        }
        judge(trial, recordedCalls, '5 bets and their rollbacks');
      },
    },
  ]),
);
