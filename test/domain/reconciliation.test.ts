import { describe, expect, it } from 'vitest';
import {
  differenceBetween,
  differenceReason,
  isExpectedThere,
  type JournalBet,
  type ListedBet,
  listedHere,
} from '../../src/domain/reconciliation.ts';

const PLACED: JournalBet = {
  currency: 'USD',
  amount: '10.00',
  place: 'accepted',
  placeCode: undefined,
  placeAnsweredUnknown: false,
  settlement: 'none',
  settlementAmount: undefined,
  settlementTime: undefined,
  rollback: 'none',
  rollbackTime: undefined,
  busyOperation: undefined,
  lateKind: undefined,
  lateAmount: undefined,
  promise: undefined,
  isFreebet: false,
  resolvedBy: undefined,
  placedAt: new Date('2026-11-20T12:00:00Z'),
};
const SETTLED = { ...PLACED, settlement: 'settled', settlementAmount: '20.50' };
const UNDONE = { ...SETTLED, rollback: 'confirmed' };
const DAYS = {
  startsAt: new Date('2026-11-20T00:00:00Z'),
  endsAt: new Date('2026-11-21T00:00:00Z'),
};
const promise = (operation: 'settle' | 'unsettle' | 'rollback', amount?: string) => ({
  operation,
  amount,
  isDead: false,
  promisedAt: new Date('2026-11-20T10:02:00Z'),
});

const AT = '2026-11-20T12:30:00.000Z';
const ROLLED_BACK = { rollback: 'confirmed', rollbackTime: AT } as const;
const WON = { settlement: 'settled', settlementAmount: '20', settlementTime: AT } as const;
const PROMISED = 'promised, not delivered yet: agrees when delivered';
const MAY_LAND = 'without an answer may have landed late: what stands is sent once more';

describe('what the gateway says of a bet', () => {
  it.each<[string, JournalBet, Partial<ListedBet>]>([
    ['placed', PLACED, { state: 'placed', stake: '10', payout: '0' }],
    ['settled', SETTLED, { state: 'settled', payout: '20.5' }],
    ['unsettled', { ...PLACED, settlement: 'unsettled' }, { state: 'placed', payout: '0' }],
    ['rolled back', UNDONE, { state: 'rolled_back', payout: '0' }],
    ['to be rolled back', { ...SETTLED, rollback: 'promised' }, { state: 'rolled_back' }],
    [
      'to be settled',
      { ...PLACED, promise: promise('settle', '7.0') },
      { state: 'settled', payout: '7' },
    ],
    [
      'to be unsettled',
      { ...SETTLED, promise: promise('unsettle') },
      { state: 'placed', payout: '0' },
    ],
    [
      'of unknown result',
      { ...PLACED, settlement: 'unknown' },
      { state: 'settlement_unknown', payout: null },
    ],
    ['declined', { ...PLACED, place: 'declined' }, { state: 'declined' }],
    [
      'settled, and placed before the gateway was there',
      { ...SETTLED, place: 'unseen', amount: undefined },
      { state: 'settled', stake: null },
    ],
    [
      'settled, which only a rollback that is promised undoes',
      { ...SETTLED, promise: promise('rollback') },
      { state: 'rolled_back', payout: '0' },
    ],
    [
      'unsettled, and placed before the gateway was there',
      { ...PLACED, place: 'unseen', settlement: 'unsettled' },
      { state: 'placed', payout: '0' },
    ],
    ['in flight', { ...PLACED, place: 'in_flight' }, { state: 'in_flight', payout: '0' }],
    [
      'settled without an amount, which is nothing',
      { ...PLACED, settlement: 'settled' },
      { state: 'settled', payout: '0' },
    ],
  ])('that is %s', (_, bet, words) => {
    expect(listedHere(bet)).toMatchObject(words);
  });
});

describe('two lists over one bet', () => {
  const there = (more: Partial<ListedBet> = {}): ListedBet => ({
    currency: null,
    stake: null,
    payout: null,
    state: null,
    ...more,
  });
  const over = (bet: JournalBet, more: Partial<ListedBet>) =>
    differenceBetween(listedHere(bet), there(more));

  it.each<[JournalBet, Partial<ListedBet>, string | undefined]>([
    [PLACED, {}, undefined],
    [PLACED, { stake: '10', payout: '0', state: 'placed', currency: 'usd' }, undefined],
    [PLACED, { stake: '10.01' }, 'amount_differs'],
    [PLACED, { payout: '1' }, 'amount_differs'],
    [PLACED, { currency: 'EUR', state: 'settled' }, 'currency_differs'],
    [SETTLED, { payout: '20.500' }, undefined],
    [SETTLED, { payout: '41' }, 'amount_differs'],
    [SETTLED, { state: 'placed', payout: '0' }, 'state_differs'],
    [UNDONE, { state: 'settled' }, 'state_differs'],
    [UNDONE, { state: 'rolled_back', stake: '10', payout: '0' }, undefined],
    [UNDONE, { state: 'rolled_back', stake: '0', payout: '0' }, undefined],
    [UNDONE, { state: 'rolled_back', stake: '10', payout: '10' }, undefined],
    [UNDONE, { state: 'rolled_back', stake: '12', payout: '0' }, 'amount_differs'],
    [UNDONE, { state: 'rolled_back', stake: '10', payout: '5' }, 'amount_differs'],
    [UNDONE, { state: 'rolled_back', stake: '0', payout: '10' }, 'amount_differs'],
    // Without states, the list does not say that the stake was returned.
    [UNDONE, { stake: '10', payout: '0' }, 'amount_differs'],
    [UNDONE, { stake: '10', payout: '10' }, undefined],
    [{ ...PLACED, settlement: 'unknown' }, { state: 'placed' }, 'state_differs'],
    [{ ...PLACED, settlement: 'unknown' }, { payout: '0' }, 'state_differs'],
    [{ ...PLACED, place: 'declined' }, { state: 'placed', stake: '10' }, 'state_differs'],
    [{ ...PLACED, place: 'declined' }, { state: 'rolled_back', stake: '10' }, undefined],
    [{ ...PLACED, place: 'unknown' }, { state: 'rolled_back', stake: '0', payout: '0' }, undefined],
    [{ ...PLACED, place: 'unknown' }, { stake: '10' }, 'state_differs'],
    [PLACED, { currency: 'USD', state: null }, undefined],
    [{ ...PLACED, currency: undefined }, { currency: 'EUR' }, undefined],
    [{ ...PLACED, settlement: 'unknown' }, { stake: '10' }, undefined],
    [{ ...PLACED, settlement: 'unknown' }, { stake: '11' }, 'amount_differs'],
    [{ ...PLACED, settlement: 'unknown' }, { stake: '11', payout: '0' }, 'state_differs'],
    [UNDONE, { state: 'rolled_back', stake: '0', payout: '0' }, undefined],
    [UNDONE, { state: null, stake: '0', payout: null }, undefined],
    [UNDONE, { state: null, stake: null, payout: '0' }, undefined],
    [UNDONE, { state: null, stake: null, payout: '10' }, undefined],
    [UNDONE, { state: null, stake: null, payout: '3' }, 'amount_differs'],
    [UNDONE, { state: 'placed' }, 'state_differs'],
    ...['declined', 'not_sent', 'unseen', 'in_flight', 'unknown'].flatMap(
      (place): [JournalBet, Partial<ListedBet>, string | undefined][] => [
        [{ ...PLACED, place }, { state: null, stake: '0', payout: '0' }, undefined],
        [{ ...PLACED, place }, { state: null, stake: '0', payout: null }, undefined],
        [{ ...PLACED, place }, { state: null, stake: '0', payout: '5' }, 'state_differs'],
        [{ ...PLACED, place }, { state: null, stake: null, payout: '0' }, 'state_differs'],
        [{ ...PLACED, place }, { state: 'settled', stake: '0', payout: '0' }, 'state_differs'],
        [{ ...PLACED, place }, { state: 'rolled_back', stake: '10', payout: '10' }, undefined],
        [{ ...PLACED, place }, { state: 'rolled_back', stake: '10', payout: '5' }, 'state_differs'],
        [{ ...PLACED, place }, {}, 'state_differs'],
      ],
    ),
    // An amount that PostgreSQL cannot hold is compared nevertheless.
    [{ ...PLACED, amount: '1e-99999' }, { stake: '0' }, 'amount_differs'],
  ])('%j and %j: %s', (bet, words, kind) => {
    expect(over(bet, words)).toBe(kind);
  });
});

describe('why they differ, where the gateway knows', () => {
  it.each<[string, Partial<JournalBet>, string]>([
    [
      'state_differs',
      { rollback: 'promised', promise: promise('rollback') },
      'rollback promised at 2026-11-20T10:02:00.000Z, not delivered yet: agrees when delivered',
    ],
    [
      'state_differs',
      { promise: { ...promise('settle', '7'), isDead: true } },
      'settle promised at 2026-11-20T10:02:00.000Z, a dead letter: agrees when it is retried and delivered, or put right by hand and resolved',
    ],
    ['state_differs', { busyOperation: 'settle' }, 'its settle is on its way: compare again'],
    [
      'state_differs',
      { settlement: 'unknown', lateKind: 'settle', lateAmount: '7' },
      'the outcome of its result is unknown: agrees when the service has repeated it; a settle of 7 ' +
        'without an answer may have landed late: what stands is sent once more',
    ],
    ['amount_differs', { isFreebet: true }, 'a freebet: its stake is nobody’s money'],
    [
      'amount_differs',
      { resolvedBy: 'ann: credited by hand' },
      'settled by hand: ann: credited by hand',
    ],
    [
      'missing_there',
      { placedAt: new Date('2026-11-20T23:59:58Z') },
      'placed at 2026-11-20T23:59:58.000Z: may stand in their list of the day after',
    ],
    ['state_differs', { rollback: 'promised' }, `rollback ${PROMISED}`],
    ['missing_there', { place: 'declined', placeCode: 7 }, 'its place was declined with code 7'],
    ['missing_there', { place: 'declined' }, 'its place was declined with code unknown'],
    ['missing_there', { place: 'not_sent' }, 'its place was never sent to the wallet'],
    ['state_differs', { place: 'unseen' }, 'its place did not come this way, only what came later'],
    [
      'missing_there',
      { place: 'unknown' },
      'the outcome of its place is unknown: it is rolled back',
    ],
    [
      'state_differs',
      { placeAnsweredUnknown: true },
      'the service was told that its place is unknown: it is rolled back',
    ],
    ['state_differs', { lateKind: 'several' }, `several operations ${MAY_LAND}`],
    ['state_differs', { lateKind: 'unsettle' }, `a unsettle ${MAY_LAND}`],
    [
      'missing_there',
      { placedAt: new Date('2026-11-20T00:10:00Z') },
      'placed at 2026-11-20T00:10:00.000Z: may stand in their list of the day before',
    ],
    [
      'amount_differs',
      { placedAt: new Date('2026-11-21T00:00:00Z') },
      'placed here at 2026-11-21T00:00:00.000Z, outside of these days',
    ],
    [
      'amount_differs',
      { placedAt: new Date('2026-11-19T23:59:59Z') },
      'placed here at 2026-11-19T23:59:59.000Z, outside of these days',
    ],
    ...(['state_differs', 'amount_differs', 'missing_there'] as const).flatMap(
      (kind): [string, Partial<JournalBet>, string][] => [
        [kind, { ...ROLLED_BACK }, `the wallet confirmed its rollback (${AT})`],
        [kind, { ...WON }, `the wallet confirmed its result (${AT})`],
      ],
    ),
  ])('%s %j', (kind, more, reason) => {
    expect(differenceReason(kind as 'state_differs', { ...PLACED, ...more }, DAYS)).toBe(reason);
  });

  it.each<[string, Partial<JournalBet>]>([
    ['missing_there', { placedAt: new Date('2026-11-20T00:10:00.001Z') }],
    ['missing_there', { placedAt: new Date('2026-11-20T23:49:59.999Z') }],
    ['state_differs', { placedAt: new Date('2026-11-20T00:00:00Z') }],
    ['state_differs', { isFreebet: true }],
    ['currency_differs', ROLLED_BACK],
    ['duplicate_there', WON],
    // Rolled back, so nobody will roll it back again.
    ['currency_differs', { place: 'unknown', rollback: 'confirmed' }],
    ['currency_differs', { placeAnsweredUnknown: true, rollback: 'confirmed' }],
    ['currency_differs', { settlement: 'unknown', rollback: 'confirmed' }],
    // Confirmed, but the time was not recorded.
    ['state_differs', { rollback: 'confirmed' }],
    ['state_differs', { settlement: 'settled' }],
    ['state_differs', { rollbackTime: AT, settlementTime: AT }],
  ])('is nothing for %s %j', (kind, more) => {
    const bet = { ...PLACED, ...more };
    expect(differenceReason(kind as 'state_differs', bet, DAYS)).toBeUndefined();
  });

  it('does not claim a wallet’s confirmation for what is still promised', () => {
    const bet = { ...PLACED, ...WON, promise: promise('unsettle') };
    expect(differenceReason('state_differs', bet, DAYS)).toBe(
      'unsettle promised at 2026-11-20T10:02:00.000Z, not delivered yet: agrees when delivered',
    );
  });
});

it('expects in a list what a wallet has taken in its days', () => {
  const at = (time: string) => isExpectedThere({ ...PLACED, placedAt: new Date(time) }, DAYS);
  expect(at('2026-11-20T00:00:00Z')).toBe(true);
  expect(at('2026-11-20T23:59:59.999Z')).toBe(true);
  expect(at('2026-11-21T00:00:00Z')).toBe(false);
  expect(at('2026-11-19T23:59:59.999Z')).toBe(false);
  expect(isExpectedThere({ ...PLACED, place: 'unknown' }, DAYS)).toBe(false);
});
