import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { placeBet } from '../../../src/operations/place.ts';
import { failure } from '../../../src/protocol/answers.ts';
import type { SessionLookup } from '../../../src/sessions/session.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { AT, type PlaceScene, placeOf, placeScene, SESSION } from '../support/place-scene.ts';

/** Who may not place a bet, with parts that behave as the test says; other files test it over HTTP. */

const STORED = Buffer.from('as it is kept');
const ID = 'b26153f9';
const SUCCESS = { status: 200, body: `{"transactionId":"${ID}","transactionTime":"${AT}"}` };
const OWN_PLACE = { amount: '12.1', currency: 'USD', owner: SESSION.owner };
const PLACED: Bet = {
  ...{ ...FRESH, ...OWN_PLACE, transactionId: ID },
  place: { kind: 'accepted', transactionTime: AT },
};

async function placed(scene: PlaceScene = {}, changes: Readonly<Record<string, string>> = {}) {
  const parts = placeScene(scene);
  const { callbacks, deadline } = parts;
  const message = placeOf(changes);
  const handled = await placeBet({ callbacks, message, stored: STORED, deadline });
  return { ...parts, handled };
}

describe('a place by a token that may not place it', () => {
  const expired: SessionLookup = { kind: 'expired', session: SESSION };
  const ANOTHERS = { ...SESSION, owner: { ...SESSION.owner, userId: '2000' } };
  const refusedAs = (code: number, words: string, operatorId?: string) => ({
    ...{ answer: failure(code, words), outcome: 'invalid', operatorId, detail: { code } },
  });

  it.each<[string, SessionLookup, object]>([
    ['nobody knows', { kind: 'unknown' }, refusedAs(3, 'Invalid token')],
    ['is out of date', expired, refusedAs(4, 'Token out of date', 'alpha')],
    [
      'is out of date, and another player’s for good',
      { kind: 'expired', session: ANOTHERS },
      refusedAs(3, 'Invalid token', 'alpha'),
    ],
    [
      'was revoked',
      { kind: 'ended', reason: 'revoked', session: SESSION },
      refusedAs(3, 'Invalid token', 'alpha'),
    ],
    [
      'is another player’s',
      { kind: 'live', session: ANOTHERS },
      refusedAs(3, 'Invalid token', 'alpha'),
    ],
    [
      'is for another currency',
      { kind: 'live', session: { ...SESSION, currency: 'EUR' } },
      refusedAs(3, 'Invalid token', 'alpha'),
    ],
  ])('is refused, with nothing written: it %s', async (_, lookup, expected) => {
    const { handled, steps } = await placed({ lookup });
    expect(handled).toEqual(expected);
    expect(steps).toEqual([]);
  });

  it.each<[string, SessionLookup]>([
    ['its session is over', expired],
    ['its session is another’s', { kind: 'live', session: { ...SESSION, currency: 'EUR' } }],
  ])('gets the answer of its bet nevertheless if that is known: %s', async (_, lookup) => {
    const { handled } = await placed({ lookup, bets: [PLACED] });
    expect(handled).toMatchObject({ answer: SUCCESS, outcome: 'duplicate' });
  });

  it.each<[string, SessionLookup, object]>([
    ['out of date', expired, refusedAs(4, 'Token out of date', 'alpha')],
    [
      'alive, and another player’s (I8)',
      { kind: 'live', session: ANOTHERS },
      refusedAs(3, 'Invalid token', 'alpha'),
    ],
  ])('is not sent for a bet known only from later operations: %s', async (_, lookup, expected) => {
    const { owner: __, ...unowned } = PLACED;
    const unseen: Bet = { ...unowned, owner: undefined, place: { kind: 'unseen' } };
    const { handled, steps } = await placed({ lookup, bets: [unseen] });
    expect(handled).toEqual(expected);
    expect(steps).toEqual([]);
  });
});

describe('a place of a sub-partner', () => {
  const configured = { subPartnerId: 'north', generation: 1 };

  it('of another operator than its player’s is refused, on record: the file may be put right', async () => {
    const { handled, steps, kept } = await placed({ configured }, { subPartnerId: '"south"' });
    const reason = 'subPartnerId: is not the operator of this player';
    expect(handled).toEqual({
      answer: failure(5, reason),
      ...{ outcome: 'invalid', operatorId: 'alpha', detail: { code: 5, reason } },
    });
    expect(steps).toEqual(['refusal']);
    expect(kept.refusals).toMatchObject([{ operation: 'place', answer: { status: 400 } }]);
  });
});

describe('a place whose session has ended by the time it is written', () => {
  const sessionOver = async () => ({ kind: 'sessionOver' }) as const;

  it.each<[string, SessionLookup, number]>([
    ['out of date', { kind: 'expired', session: SESSION }, 4],
    ['revoked', { kind: 'ended', reason: 'revoked', session: SESSION }, 3],
  ])('is refused as PostgreSQL has it: %s', async (_, certain, code) => {
    const { handled, steps, findCertain } = await placed({ begin: sessionOver, certain });
    expect(handled).toMatchObject({ outcome: 'invalid', operatorId: 'alpha', detail: { code } });
    expect(findCertain.mock.calls).toEqual([['5caa4cabce']]);
    expect(steps).toEqual(['begin']);
  });

  it('is refused for the player of a session that it found only then: a failover lost the one before', async () => {
    const owner = { ...SESSION.owner, userId: '2000' };
    const certain: SessionLookup = { kind: 'expired', session: { ...SESSION, owner } };
    const { handled, steps } = await placed({ begin: sessionOver, certain });
    expect(handled).toMatchObject({ outcome: 'invalid', operatorId: 'alpha', detail: { code: 3 } });
    expect(steps).toEqual(['begin']);
  });
});
