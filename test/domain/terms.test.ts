import { describe, expect, it } from 'vitest';
import type { Bet } from '../../src/domain/bet.ts';
import { decideSettle, decideUnsettle } from '../../src/domain/decide.ts';
import { contradiction, inFirstCurrency, sentTerms } from '../../src/domain/terms.ts';
import { FRESH } from './support/fresh-bet.ts';

const PLACED = { amount: '5.00', currency: 'USD' };
const UNSEEN = { amount: undefined, currency: undefined };

describe('what goes to the wallet', () => {
  it('of a rollback is the stake and currency of the place, with their exact text', () => {
    for (const said of [{}, { amount: '500', currency: 'EUR' }, { amount: '5' }]) {
      expect(sentTerms('rollback', PLACED, said)).toEqual(PLACED);
    }
  });

  it('of an update is its own amount in the currency of the bet', () => {
    expect(sentTerms('update', PLACED, { amount: '7', currency: 'EUR' })).toEqual({
      amount: '7',
      currency: 'USD',
    });
    expect(sentTerms('update', PLACED, {})).toEqual(PLACED);
  });

  it('of a bet that is not in the journal is what the operation says', () => {
    const said = { amount: '7', currency: 'EUR' };
    expect(sentTerms('rollback', UNSEEN, said)).toEqual(said);
    expect(sentTerms('update', UNSEEN, said)).toEqual(said);
  });
});

describe('a contradiction', () => {
  it('names what differs: amounts as decimals, and only those of a rollback', () => {
    const other = { amount: '500', currency: 'EUR' };
    expect(contradiction('rollback', PLACED, other)).toContain('amount and currency');
    expect(contradiction('rollback', PLACED, { amount: '500' })).not.toContain('currency');
    expect(contradiction('update', PLACED, other)).not.toContain('amount');
    for (const said of [{}, { amount: '5' }, { amount: '500e-2', currency: 'USD' }]) {
      expect(contradiction('rollback', PLACED, said)).toBeUndefined();
    }
    expect(contradiction('rollback', UNSEEN, other)).toBeUndefined();
  });
});

describe('the first currency that is named', () => {
  it('is that of a bet whose own is not in the journal, and no other', () => {
    const unseen = { ...FRESH, ...UNSEEN };
    expect(inFirstCurrency(unseen, 'settle', { currency: 'EUR' }).currency).toBe('EUR');
    expect(inFirstCurrency(FRESH, 'settle', { currency: 'EUR' }).currency).toBe('USD');
    expect(inFirstCurrency(unseen, 'rollback', { currency: 'EUR' }).currency).toBeUndefined();
  });
});

describe('a result in another currency than its bet', () => {
  const AT = '2021-03-05T11:08:00.000Z';
  const placed: Bet = { ...FRESH, place: { kind: 'accepted', transactionTime: AT } };
  const settle = { amount: '25', resultType: 'won' } as const;
  const queued = {
    id: '1',
    operationId: '1',
    operation: 'settle',
    settle,
    transactionTime: AT,
  } as const;
  const states: readonly (readonly [string, Partial<Bet>])[] = [
    ['a placed bet', {}],
    [
      'a bet with this very result',
      { settlement: { kind: 'settled', ...settle, transactionTime: AT } },
    ],
    ['an unsettled bet', { settlement: { kind: 'unsettled', transactionTime: AT } }],
    ['a bet with one in flight', { busy: { operation: 'settle', attemptId: 'a', lapsed: false } }],
    ['a bet with a queued result', { deliveries: [{ ...queued, attempts: 0 }] }],
    ['a bet with an attempted result', { deliveries: [{ ...queued, attempts: 1 }] }],
    ['a bet of unknown place', { place: { kind: 'unknown' } }],
  ];

  it.each(states)('is a conflict for %s (I10)', (_, known) => {
    const bet = { ...placed, ...known };
    expect(decideSettle(bet, { ...settle, currency: 'EUR' }).kind).toBe('conflict');
    expect(decideUnsettle(bet, { currency: 'EUR' }).kind).toBe('conflict');
    for (const currency of ['USD', undefined]) {
      expect(decideSettle(bet, { ...settle, currency }).kind).not.toBe('conflict');
      expect(decideUnsettle(bet, { currency }).kind).not.toBe('conflict');
    }
  });
});
