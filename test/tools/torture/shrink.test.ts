import { describe, expect, it } from 'vitest';
import { type Plan, partsOf } from '../../../tools/torture/plan/plan.ts';
import { writePlan } from '../../../tools/torture/plan/write-plan.ts';
import type { Verdict } from '../../../tools/torture/play/verdict.ts';
import { shrink } from '../../../tools/torture/run/shrink.ts';
import { Story } from '../../../tools/torture/story.ts';

/** The verdict on a gateway that fails whenever these parts are there. */
function verdictOf(plan: Plan, guilty: readonly string[]): Verdict {
  const parts = new Set(partsOf(plan));
  const fails = guilty.every((part) => parts.has(part));
  const bet = guilty.find((part) => part.startsWith('b'))?.split('.')[0];
  return {
    ...{ plan, records: [], story: new Story(), tookMs: 0, undecided: 0, walletCalls: 0 },
    came: new Map<string, number>(),
    findings: fails ? [{ kind: 'books', bet, text: 'differ' }] : [],
  };
}

describe('shrinking', () => {
  const seed = Array.from({ length: 200 }, (_, n) => n).find((n) => {
    const { faults, bets } = writePlan(n, 30);
    return faults.length >= 2 && (bets[0]?.fates.length ?? 0) > 0;
  });
  const plan = writePlan(seed ?? 0, 30);
  const guilty = ['x1', 'b0', 'b0.f0', 'b0.o0'];

  it('leaves nothing but what the failure needs', async () => {
    const play = async (smaller: Plan) => verdictOf(smaller, guilty);
    const smallest = await shrink(verdictOf(plan, guilty), { play, tries: 1, isOver: () => false });
    expect(new Set(partsOf(smallest.plan))).toEqual(new Set(guilty));
  });

  it('keeps its result when the time is over, or nothing fails any more', async () => {
    const failing = verdictOf(plan, guilty);
    const play = async (smaller: Plan) => verdictOf(smaller, ['x999']);
    expect(await shrink(failing, { play, tries: 2, isOver: () => false })).toBe(failing);
    expect(await shrink(failing, { play, tries: 2, isOver: () => true })).toBe(failing);
  });
});
