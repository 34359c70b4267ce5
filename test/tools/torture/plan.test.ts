import { describe, expect, it } from 'vitest';
import {
  ALL_OPERATORS,
  type BetPlan,
  CHARACTERS,
  LAYOUTS,
  partsOf,
  prune,
} from '../../../tools/torture/plan/plan.ts';
import { Random } from '../../../tools/torture/plan/random.ts';
import { writePlan } from '../../../tools/torture/plan/write-plan.ts';
import { LATE_MS_MAX, WALLET_TIMEOUT_MS } from '../../../tools/torture/settings.ts';

const SEEDS = Array.from({ length: 300 }, (_, seed) => seed);
const STEPS = 25;
const plans = SEEDS.map((seed) => writePlan(seed, STEPS));
const bets = plans.flatMap((plan) => plan.bets);

describe('a plan', () => {
  it('is the same for the same seed, and another for another', () => {
    expect(writePlan(17, STEPS)).toEqual(plans[17]);
    const texts = new Set(plans.map((plan) => JSON.stringify({ ...plan, seed: 0 })));
    expect(texts.size).toBe(SEEDS.length);
  });

  it('takes turns with the layouts, so that a short run sees all of them', () => {
    const first = plans.slice(0, LAYOUTS.length).map(({ layout }) => layout);
    expect(new Set(first)).toEqual(new Set(LAYOUTS));
  });

  it('never has two results of a bet under way at once, which no service does', () => {
    const alongside = bets.flatMap(({ steps }) => steps.filter(({ isAlongside }) => isAlongside));
    const kinds = new Set(alongside.map(({ move }) => move.kind));
    expect(kinds).toEqual(new Set(['rollback', 'update', 'endSession']));
  });

  it('lets nothing land after the last time that the gateway promises to mend it', () => {
    const late = bets.flatMap(({ fates }) => fates.filter(({ effect }) => effect === 'late'));
    expect(late.length).toBeGreaterThan(50);
    for (const { delayMs } of late) {
      expect(delayMs).toBeLessThanOrEqual(WALLET_TIMEOUT_MS + 50 + LATE_MS_MAX);
    }
  });

  it('asks nothing impossible of wallets that key on requestId: no result lands late there', () => {
    const isLateResult = (bet: BetPlan) =>
      bet.fates.some(
        ({ effect, operation }) =>
          effect === 'late' && (operation === 'settle' || operation === 'unsettle'),
      );
    const keyed = bets.filter(({ operator }) => CHARACTERS[operator].keyedOnRequestId);
    expect(keyed.filter(isLateResult)).toEqual([]);
  });

  it('never gives up on a result that no other follows, which could not be judged', () => {
    for (const { steps } of bets) {
      const results = steps.filter(({ move }) => ['settle', 'unsettle'].includes(move.kind));
      expect(results.at(-1)?.givesUpAfter).toBeUndefined();
    }
  });

  it('repeats a bet’s earlier results in a share of the histories', () => {
    const returning = bets.filter(({ steps }) => {
      const amounts = steps.flatMap(({ move }) => (move.kind === 'settle' ? [move.amount] : []));
      return new Set(amounts).size < amounts.length;
    });
    expect(returning.length).toBeGreaterThan(20);
  });

  it('holds every kind of fault, fate and move somewhere', () => {
    const faults = new Set(plans.flatMap((plan) => plan.faults.map(({ fault }) => fault.kind)));
    expect(faults.size).toBe(17);
    const connections = plans.flatMap((plan) =>
      plan.faults.flatMap(({ fault }) => (fault.kind === 'connection' ? [fault.how] : [])),
    );
    expect(new Set(connections).size).toBe(10);
    const answers = new Set(bets.flatMap(({ fates }) => fates.map(({ answer }) => answer)));
    expect(answers.size).toBe(10);
    const copies = bets.flatMap(({ steps }) => steps.flatMap((step) => step.copies));
    expect(new Set(copies.map(({ kind }) => kind)).size).toBe(6);
    expect(new Set(bets.map(({ begins }) => begins)).size).toBe(3);
    expect(new Set(bets.map(({ operator }) => operator)).size).toBe(ALL_OPERATORS.length);
  });
});

describe('a pruned plan', () => {
  const [plan = writePlan(0, STEPS)] = plans;

  it('is itself when everything is kept, and empty when nothing is', () => {
    expect(prune(plan, new Set(partsOf(plan)))).toEqual(plan);
    expect(prune(plan, new Set())).toMatchObject({ bets: [], faults: [] });
  });

  it('loses the parts of a part that is left out', () => {
    const kept = partsOf(plan).filter((part) => part !== 'b0');
    expect(partsOf(prune(plan, new Set(kept))).filter((part) => /^b0(\.|$)/.test(part))).toEqual(
      [],
    );
  });
});

describe('the generator of chance', () => {
  it('draws evenly enough to be trusted with weights', () => {
    const random = new Random(4);
    const drawn = Array.from({ length: 10_000 }, () =>
      random.weighted([
        [1, 'seldom'],
        [0, 'never'],
        [3, 'often'],
      ]),
    );
    const count = (word: string) => drawn.filter((each) => each === word).length;
    expect(count('never')).toBe(0);
    expect(count('seldom')).toBeGreaterThan(2_300);
    expect(count('seldom')).toBeLessThan(2_700);
  });
});
