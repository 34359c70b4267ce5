import { expect, it } from 'vitest';
import type { FindingKind } from '../../../tools/torture/check/finding.ts';
import type { Plan } from '../../../tools/torture/plan/plan.ts';
import type { Verdict } from '../../../tools/torture/play/verdict.ts';
import { Histories } from '../../../tools/torture/run/histories.ts';
import { readOptions } from '../../../tools/torture/run/options.ts';
import { Story } from '../../../tools/torture/story.ts';

const OPTIONS = readOptions(['--seeds', '2', '--no-shrink']);

/** A lane in which the first seed fails like this, one try after another; all others pass. */
function laneOf(tries: readonly (FindingKind | 'well')[]) {
  const played: number[] = [];
  return {
    played,
    play: async (plan: Plan): Promise<Verdict> => {
      played.push(plan.seed);
      const kind = plan.seed === 1 ? tries[played.filter((seed) => seed === 1).length - 1] : 'well';
      return {
        ...{ plan, records: [], story: new Story(), tookMs: 0, undecided: 0, walletCalls: 0 },
        came: new Map<string, number>(),
        findings:
          kind === undefined || kind === 'well' ? [] : [{ kind, bet: undefined, text: 'so' }],
      };
    },
  };
}

async function played(tries: readonly (FindingKind | 'well')[]) {
  const lane = laneOf(tries);
  const histories = new Histories(OPTIONS, { log: () => undefined });
  await histories.play(lane, 1);
  await histories.play(lane, 2);
  await histories.playLateAlone();
  const { played: count, failures } = histories.summary;
  return { order: lane.played, count, failed: failures.map(({ plan }) => plan.seed) };
}

it('plays late histories once more, and a last time when all others are over', async () => {
  expect(await played(['lateAnswer', 'well'])).toEqual({ order: [1, 1, 2], count: 2, failed: [] });
  expect(await played(['lateAnswer', 'blocked', 'well'])).toEqual({
    order: [1, 1, 2, 1],
    count: 2,
    failed: [],
  });
});

it('fails for histories that are late each time, and for anything else at once', async () => {
  const late = ['lateAnswer', 'lateAnswer', 'lateAnswer'] as const;
  expect(await played(late)).toEqual({ order: [1, 1, 2, 1], count: 2, failed: [1] });
  expect(await played(['money'])).toEqual({ order: [1, 2], count: 2, failed: [1] });
  expect(await played(['lateAnswer', 'money'])).toEqual({
    order: [1, 1, 2],
    count: 2,
    failed: [1],
  });
});
