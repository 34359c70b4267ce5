import { type Case, group } from '../case.ts';
import { stakes } from '../money.ts';
import type { Sighting } from '../recorded-call.ts';
import type { Trial } from '../trial.ts';

const RULE = 'docs/protocol.md, Limits (callback response timeout: 5 seconds)';

/** Milliseconds at a share of the sorted calls. */
export function percentile(sortedMs: readonly number[], share: number): number {
  const at = Math.max(0, Math.ceil(sortedMs.length * share) - 1);
  return sortedMs[at] ?? 0;
}

function judge(trial: Trial, sightings: readonly Sighting[], what: string): void {
  const { warnMs, failMs } = trial.context.latency;
  const sorted = sightings.map(({ ms }) => ms).sort((a, b) => a - b);
  const [p50, p95, max] = [0.5, 0.95, 1].map((share) => Math.round(percentile(sorted, share)));
  const silent = sightings.filter(({ exchange }) => exchange.kind !== 'response').length;
  const told = `${what}: p50 ${p50} ms, p95 ${p95} ms, slowest ${max} ms`;
  if (silent > 0) trial.fail(`${told}, ${silent} without an answer`);
  else if ((max ?? 0) > failMs) trial.fail(`${told}: above ${failMs} ms`);
  else if ((max ?? 0) > warnMs) trial.warn(`${told}: above ${warnMs} ms`);
  else trial.remark(told);
}

async function balances(trial: Trial, count: number): Promise<void> {
  const sightings = await Promise.all(Array.from({ length: count }, () => trial.balance()));
  for (const sighting of sightings) trial.accepts(sighting);
  judge(trial, sightings, `${count} balances at once`);
}

async function places(trial: Trial, count: number): Promise<void> {
  const calls = Array.from({ length: count }, () => trial.place(trial.slip()));
  const sightings = await Promise.all(calls);
  for (const sighting of sightings) trial.accepts(sighting);
  judge(trial, sightings, `${count} places at once`);
  await trial.moved(stakes(count, '1'), `${count} places of 1`);
}

const IN_TIME = 'each answered; a call above 2 s is a warning, above 5 s a failure';

export const latencyCases: readonly Case[] = group('latency', { rule: RULE, money: false }, [
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
      const sightings: Sighting[] = [];
      for (let bet = 0; bet < 5; bet += 1) {
        const slip = trial.slip();
        sightings.push(await trial.place(slip), await trial.rollback(slip));
      }
      judge(trial, sightings, '5 bets and their rollbacks');
    },
  },
]);
