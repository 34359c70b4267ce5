import { describe, expect, it } from 'vitest';
import { BET_STATES, betState } from '../../src/domain/bet-state.ts';

const PLACES = ['unseen', 'in_flight', 'accepted', 'declined', 'not_sent', 'unknown'];

describe('the one word for the state of a bet', () => {
  it.each(PLACES)('is how far its place came, while it has no result: %s', (place) => {
    for (const settlement of ['none', 'unsettled']) {
      expect(betState({ place, settlement, rollback: 'none' })).toBe(place);
    }
  });

  it.each([
    ['settled', 'settled'],
    ['unknown', 'settlement_unknown'],
  ])('is its result, once it has one: %s', (settlement, word) => {
    for (const place of PLACES) {
      expect(betState({ place, settlement, rollback: 'none' })).toBe(word);
    }
  });

  it.each([
    ['promised', 'rolling_back'],
    ['confirmed', 'rolled_back'],
  ])('is its rollback before everything else: %s', (rollback, word) => {
    for (const settlement of ['none', 'settled', 'unsettled', 'unknown']) {
      expect(betState({ place: 'accepted', settlement, rollback })).toBe(word);
    }
  });

  it('is always one of those that people can search for', () => {
    const words = PLACES.flatMap((place) =>
      ['none', 'settled', 'unsettled', 'unknown'].flatMap((settlement) =>
        ['none', 'promised', 'confirmed'].map((rollback) =>
          betState({ place, settlement, rollback }),
        ),
      ),
    );
    expect(new Set(words)).toEqual(new Set(BET_STATES));
  });
});
