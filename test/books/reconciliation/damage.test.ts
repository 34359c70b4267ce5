import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAmounts } from '../../../src/domain/amount.ts';
import { placedBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { csvOf, kindsOf, type Listed, listOf, reconcile } from './support/lists.ts';

/** What happens to a bet after its place. */
const STEPS = ['won', 'lost', 'unsettle', 'rollback'] as const;
const BETS = 40;

let gateway: TestGateway;
let honest: Listed[];
beforeAll(async () => {
  gateway = await startTestGateway();
  const player = await gateway.player({ balance: '1000000' });
  const histories = fc.sample(
    fc.record({
      cents: fc.integer({ min: 1, max: 100_000 }),
      steps: fc.array(fc.constantFrom(...STEPS), { maxLength: 4 }),
      paid: fc.integer({ min: 1, max: 500_000 }),
    }),
    { numRuns: BETS, seed: 17 },
  );
  for (const { cents, steps, paid } of histories) {
    const bet = await placedBet(gateway, { player, amount: (cents / 100).toFixed(2) });
    for (const step of steps) {
      if (step === 'won') await bet.settle((paid / 100).toFixed(2));
      else if (step === 'lost') await bet.settle('0', 'lost');
      else if (step === 'unsettle') await bet.unsettle();
      else await bet.rollback();
    }
  }
  honest = listOf(gateway.wallet('alpha'));
}, 60_000);
afterAll(() => gateway.close());

/** Kinds of damage to a line, each with the difference that must be reported. */
const DAMAGES: Readonly<
  Record<string, (line: Listed) => { lines: readonly Listed[]; kind: string | undefined }>
> = {
  none: (line) => ({ lines: [line], kind: undefined }),
  written: (line) => ({ lines: [{ ...line, stake: `${line.stake}0` }], kind: undefined }),
  gone: () => ({ lines: [], kind: 'missing_there' }),
  twice: (line) => ({ lines: [line, line], kind: 'duplicate_there' }),
  cent: (line) => ({
    lines: [{ ...line, stake: addAmounts(line.stake, '0.01') }],
    kind: 'amount_differs',
  }),
  paid: (line) => {
    const payout = addAmounts(line.payout, '0.01');
    // Repaying a cent of a stake of one cent also undoes it.
    const isUndone = line.state === 'rolled_back' && payout === line.stake;
    return { lines: [{ ...line, payout }], kind: isUndone ? undefined : 'amount_differs' };
  },
  state: (line) => ({
    lines: [{ ...line, state: line.state === 'placed' ? 'rolled_back' : 'placed' }],
    kind: 'state_differs',
  }),
  currency: (line) => ({ lines: [{ ...line, currency: 'EUR' }], kind: 'currency_differs' }),
  broken: (line) => ({ lines: [{ ...line, payout: 'a lot' }], kind: 'unreadable' }),
};

describe('whatever happened to bets, and to the list of them', () => {
  it('the differences are the damage, no more and no less (I9)', async () => {
    // The undamaged list must agree, or the rest shows nothing.
    expect((await reconcile(gateway, csvOf(honest))).code).toBe(0);
    const damage = fc.constantFrom(...Object.keys(DAMAGES));
    await fc.assert(
      fc.asyncProperty(
        fc.array(damage, { minLength: BETS, maxLength: BETS }),
        fc.integer({ min: 0, max: 3 }),
        async (damages, strangers) => {
          const lines: Listed[] = [];
          const expected: string[] = [];
          for (const [at, line] of honest.entries()) {
            const made = DAMAGES[damages[at] ?? 'none']?.(line);
            lines.push(...(made?.lines ?? []));
            if (made?.kind !== undefined) expected.push(`${made.kind} ${line.transactionId}`);
          }
          for (let at = 0; at < strangers; at += 1) {
            const transactionId = `stranger-${at}`;
            lines.unshift({ ...(honest[0] as Listed), transactionId });
            expected.push(`missing_here ${transactionId}`);
          }
          fc.pre(lines.length > 0);
          const { told, code } = await reconcile(gateway, csvOf(lines));
          expect(kindsOf(told)).toEqual(expected.sort());
          expect(code).toBe(expected.length === 0 ? 0 : 3);
          const gone = expected.filter((one) => one.startsWith('missing_')).length;
          const agree = BETS - (expected.length - gone) - (gone - strangers);
          expect(told?.counts.agree).toBe(agree);
        },
      ),
      { numRuns: 8 },
    );
  });
});
