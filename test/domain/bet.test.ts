import { describe, expect, it } from 'vitest';
import {
  type Bet,
  holdsNoResult,
  isPlaceUnknown,
  lateAfter,
  neverHeld,
  openMoneyDeliveries,
  sameLate,
  sameResult,
  standingResult,
  tombstoneOf,
  unknownAfter,
} from '../../src/domain/bet.ts';
import { FRESH } from './support/fresh-bet.ts';

const AT = '2021-03-05T11:08:00.000Z';
const won = (amount: string) => ({ kind: 'settle', amount, resultType: 'won' }) as const;
const LOST = { kind: 'settle', amount: '25', resultType: 'lost' } as const;
const UNSETTLE = { kind: 'unsettle' } as const;
const SEVERAL = { kind: 'several' } as const;
const PLACE = { kind: 'place' } as const;

const bet = (changes: Partial<Bet> = {}): Bet => ({
  ...FRESH,
  place: { kind: 'accepted', transactionTime: AT },
  ...changes,
});

describe('a bet', () => {
  const declined = { kind: 'declined', code: 7, message: 'no' } as const;
  const late = { operation: LOST, atMs: 1, confirmationsLeft: 1, isConfirming: false } as const;

  it('was never held where it was declined or not sent, and nowhere else', () => {
    expect(neverHeld(bet({ place: declined }))).toBe(true);
    expect(neverHeld(bet({ place: { kind: 'notSent' } }))).toBe(true);
    for (const kind of ['unseen', 'inFlight', 'unknown'] as const) {
      expect(neverHeld(bet({ place: { kind } }))).toBe(false);
    }
    expect(neverHeld(bet())).toBe(false);
  });

  it('has an unknown place if that is so, or if the service was answered so about an accepted one', () => {
    expect(isPlaceUnknown(bet({ place: { kind: 'unknown' } }))).toBe(true);
    expect(isPlaceUnknown(bet({ placeAnsweredUnknown: true }))).toBe(true);
    expect(isPlaceUnknown(bet({ place: declined, placeAnsweredUnknown: true }))).toBe(false);
    expect(isPlaceUnknown(bet())).toBe(false);
  });

  it('has no result if none was attempted or it was undone, and none may take effect late', () => {
    const unsettled = { kind: 'unsettled', transactionTime: AT } as const;
    expect(holdsNoResult(bet())).toBe(true);
    expect(holdsNoResult(bet({ settlement: unsettled }))).toBe(true);
    expect(holdsNoResult(bet({ settlement: unsettled, late }))).toBe(false);
    expect(holdsNoResult(bet({ settlement: { kind: 'unknown', attempted: LOST } }))).toBe(false);
  });

  it('may have an unknown result if its place was never seen here', () => {
    const unsettled = { kind: 'unsettled', transactionTime: AT } as const;
    expect(holdsNoResult(bet({ place: { kind: 'unseen' } }))).toBe(false);
    expect(holdsNoResult(bet({ place: { kind: 'unseen' }, settlement: unsettled }))).toBe(true);
  });

  it('has its money operations in order; updates are none (I6)', () => {
    const open = (id: string, operation: 'settle' | 'update' | 'rollback') =>
      ({ id, operationId: id, operation, attempts: 0, transactionTime: AT }) as const;
    const deliveries = [open('1', 'update'), open('2', 'settle'), open('3', 'rollback')];
    expect(openMoneyDeliveries(bet({ deliveries })).map(({ id }) => id)).toEqual(['2', '3']);
  });
});

describe('two results', () => {
  it('leave the same books where kind, amount and result type are the same (I9)', () => {
    expect(sameResult(won('25'), won('25.00'))).toBe(true);
    expect(sameResult(won('25'), won('26'))).toBe(false);
    expect(sameResult(won('25'), LOST)).toBe(false);
    expect(sameResult(won('25'), UNSETTLE)).toBe(false);
    expect(sameResult(UNSETTLE, won('25'))).toBe(false);
    expect(sameResult(UNSETTLE, UNSETTLE)).toBe(true);
  });

  it('leave the wallet’s books unknown if there were several', () => {
    expect(sameResult(SEVERAL, SEVERAL)).toBe(false);
  });
});

describe('a result left without an answer', () => {
  it('is that one, or several where another one was open', () => {
    const settled = { ...won('1'), kind: 'settled', transactionTime: AT } as const;
    expect(unknownAfter({ kind: 'none' }, LOST)).toEqual({ kind: 'unknown', attempted: LOST });
    expect(unknownAfter(settled, LOST)).toEqual({ kind: 'unknown', attempted: LOST });
    const open = { kind: 'unknown', attempted: won('25') } as const;
    expect(unknownAfter(open, won('25.0')).kind).toBe('unknown');
    expect(unknownAfter(open, won('25.0'))).toMatchObject({ attempted: won('25.0') });
    expect(unknownAfter(open, LOST)).toEqual({ kind: 'unknown', attempted: SEVERAL });
  });

  it('may land late, and so may the place', () => {
    const late = (operation: Parameters<typeof lateAfter>[1]) =>
      ({ operation, atMs: 1, confirmationsLeft: 1, isConfirming: false }) as const;
    expect(lateAfter(undefined, LOST)).toEqual(LOST);
    expect(lateAfter(late(LOST), LOST)).toEqual(LOST);
    expect(lateAfter(late(LOST), UNSETTLE)).toEqual(SEVERAL);
    expect(lateAfter(late(PLACE), LOST)).toEqual(SEVERAL);
    expect(lateAfter(late(LOST), PLACE)).toEqual(SEVERAL);
    expect(lateAfter(late(PLACE), PLACE)).toEqual(PLACE);
  });

  it('is harmless where it would leave the books as they are', () => {
    expect(sameLate(won('25'), won('25.0'))).toBe(true);
    expect(sameLate(LOST, won('25'))).toBe(false);
    expect(sameLate(PLACE, won('25'))).toBe(false);
    expect(sameLate(PLACE, PLACE)).toBe(true);
  });
});

describe('the current state', () => {
  it('is the result that the wallet is known to hold, as an operation', () => {
    const settled = { ...won('25'), kind: 'settled', transactionTime: AT } as const;
    expect(standingResult(settled)).toEqual(won('25'));
    expect(standingResult({ kind: 'unsettled', transactionTime: AT })).toEqual(UNSETTLE);
    expect(standingResult({ kind: 'none' })).toBeUndefined();
    expect(standingResult({ kind: 'unknown', attempted: LOST })).toBeUndefined();
  });
});
describe('the tombstone of a bet whose player was unknown', () => {
  const owner = { operatorId: 'alpha', playerId: '1', userId: 'u', operatorUser: 'ann' };
  const player = { owner, generation: 2, released: 1, releasedTo: 2 };
  const tombstone = bet({ owner: undefined, rollback: { kind: 'confirmed', transactionTime: AT } });

  it('is the player’s who is known by now, and its rollback is sent (I4)', () => {
    const found = { ...tombstone, ...player, rollback: { kind: 'none' } };
    expect(tombstoneOf(tombstone, player, 'u')).toEqual(found);
    expect(tombstoneOf(tombstone, player, undefined)).toEqual(found);
  });

  it('is nobody’s if the first rollback named another player', () => {
    expect(tombstoneOf(tombstone, player, 'w')).toBeUndefined();
  });
});
