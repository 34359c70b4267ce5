import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addAmounts, sameAmount } from '../../src/domain/amount.ts';
import {
  type BookedBet,
  type ConfirmedOperation,
  type Movement,
  movementsOf,
  NOTHING_BOOKED,
  withMovement,
} from '../../src/domain/movements.ts';

const place = (amount: string, isFreebet = false) =>
  ({ operation: 'place', amount, isFreebet }) as const;
const settle = (amount: string) => ({ operation: 'settle', amount }) as const;
const unsettle = { operation: 'unsettle' } as const;
const rollback = { operation: 'rollback' } as const;

/** All movements of a bet, and their totals. */
function book(confirmed: readonly ConfirmedOperation[]): { all: Movement[]; booked: BookedBet } {
  let booked = NOTHING_BOOKED;
  const all: Movement[] = [];
  for (const one of confirmed) {
    const made = movementsOf(booked, one);
    for (const movement of made) booked = withMovement(booked, movement);
    all.push(...made);
  }
  return { all, booked };
}

const told = (confirmed: readonly ConfirmedOperation[]) =>
  book(confirmed).all.map(({ kind, amount, opens }) => `${kind} ${amount} ${opens}`);

describe('the movements of a bet (I12)', () => {
  it.each<[string, ConfirmedOperation[], string[]]>([
    ['a place takes the stake', [place('12.10')], ['stake -12.1 1']],
    ['a win pays', [place('10'), settle('25')], ['stake -10 1', 'payout 25 -1']],
    [
      'a loss pays nothing, and ends the wait',
      [place('10'), settle('0.00')],
      ['stake -10 1', 'payout 0 -1'],
    ],
    [
      'a resettle moves the difference, up and down',
      [place('10'), settle('20'), settle('50'), settle('0')],
      ['stake -10 1', 'payout 20 -1', 'payout 30 0', 'payout_reversal -50 0'],
    ],
    [
      'the same result again moves nothing',
      [place('1'), settle('2.0'), settle('2')],
      ['stake -1 1', 'payout 2 -1'],
    ],
    [
      'an unsettle takes back what was paid, and the bet waits again',
      [place('10'), settle('20'), unsettle, settle('20')],
      ['stake -10 1', 'payout 20 -1', 'payout_reversal -20 1', 'payout 20 -1'],
    ],
    ['an unsettle of nothing moves nothing', [place('10'), unsettle], ['stake -10 1']],
    [
      'a rollback returns the stake',
      [place('10'), rollback],
      ['stake -10 1', 'stake_return 10 -1'],
    ],
    [
      'a rollback of a settled bet takes the payout and returns the stake',
      [place('10'), settle('20'), rollback],
      ['stake -10 1', 'payout 20 -1', 'payout_reversal -20 0', 'stake_return 10 0'],
    ],
    [
      'a rollback of a lost bet only returns the stake',
      [place('10'), settle('0'), rollback],
      ['stake -10 1', 'payout 0 -1', 'stake_return 10 0'],
    ],
    ['a rollback of a bet that no wallet confirmed moves nothing', [rollback], []],
    [
      'nothing follows a rollback',
      [place('10'), rollback, settle('5'), unsettle, rollback, place('10')],
      ['stake -10 1', 'stake_return 10 -1'],
    ],
    [
      'a bet placed elsewhere has results only',
      [settle('5'), unsettle, settle('7'), rollback],
      ['payout 5 0', 'payout_reversal -5 0', 'payout 7 0', 'payout_reversal -7 0'],
    ],
    [
      'a place after its result opens nothing',
      [settle('5'), place('10')],
      ['payout 5 0', 'stake -10 0'],
    ],
    ['a place confirmed twice takes one stake', [place('10'), place('10')], ['stake -10 1']],
  ])('%s', (_, confirmed, expected) => {
    expect(told(confirmed)).toEqual(expected);
  });

  it('marks all movements of a freebet, whose stake is nobody’s open stake', () => {
    const { all } = book([place('5', true), settle('1'), rollback]);
    expect(all.map(({ isFreebet }) => isFreebet)).toEqual([true, true, true, true]);
    expect(all.map(({ openStake }) => openStake)).toEqual(['0', '0', '0', '0']);
  });

  it('carry what they move of the stakes that wait for a result', () => {
    const { all } = book([place('10.50'), settle('20'), settle('30'), unsettle, rollback]);
    expect(all.map(({ openStake }) => openStake)).toEqual(['10.5', '-10.5', '0', '10.5', '-10.5']);
    const elsewhere = book([settle('5'), unsettle, settle('0')]);
    expect(elsewhere.all.map(({ openStake }) => openStake)).toEqual(['0', '0', '0']);
  });

  it('say which operation moved them', () => {
    const { all } = book([place('10'), settle('20'), unsettle, settle('5'), rollback]);
    const operations = ['place', 'settle', 'unsettle', 'settle', 'rollback', 'rollback'];
    expect(all.map(({ operation }) => operation)).toEqual(operations);
  });

  it('are counted, and leave a bet that was rolled back without a result', () => {
    const { all, booked } = book([place('10'), settle('20'), rollback]);
    expect(booked.movements).toBe(all.length);
    expect(booked).toMatchObject({ isSettled: false, isRolledBack: true });
    expect(sameAmount(booked.payout, '0')).toBe(true);
  });

  it('refuses an amount that nobody can add up', () => {
    expect(() => book([place('1e-500'), settle('1e400')])).toThrow(RangeError);
  });

  const amounts = fc.integer({ min: 0, max: 5_000 }).map((cents) => (cents / 100).toFixed(2));
  const operations = fc.oneof(
    amounts.map((amount) => place(amount)),
    amounts.map(settle),
    fc.constant(unsettle),
    fc.constant(rollback),
  );

  it('sums to the bet’s current state, whatever was confirmed in whatever order', () => {
    fc.assert(
      fc.property(fc.array(operations, { maxLength: 12 }), (confirmed) => {
        const { all, booked } = book(confirmed);
        const sum = all.reduce((total, { amount }) => addAmounts(total, amount), '0');
        const stands = standing(confirmed);
        expect(sameAmount(sum, stands)).toBe(true);
        const open = all.reduce((total, { opens }) => total + opens, 0);
        const waits = booked.stake !== undefined && !booked.isSettled && !booked.isRolledBack;
        expect(open).toBe(waits ? 1 : 0);
      }),
    );
  });

  /** What a wallet that executes exactly this moves for the player, computed without movements. */
  function standing(confirmed: readonly ConfirmedOperation[]): string {
    const over = confirmed.findIndex(
      ({ operation }, at) => operation === 'rollback' && isHeld(confirmed.slice(0, at)),
    );
    const alive = over < 0 ? confirmed.filter(({ operation }) => operation !== 'rollback') : [];
    const placed = alive.find((one) => one.operation === 'place');
    const result = alive.findLast(
      ({ operation }) => operation === 'settle' || operation === 'unsettle',
    );
    const stake = placed === undefined ? '0' : `-${placed.amount}`;
    return addAmounts(stake, result?.operation === 'settle' ? result.amount : '0');
  }

  function isHeld(before: readonly ConfirmedOperation[]): boolean {
    const { booked } = book(before);
    return booked.stake !== undefined || !sameAmount(booked.payout, '0');
  }
});
