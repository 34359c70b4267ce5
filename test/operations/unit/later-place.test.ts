import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { answerKnownPlace } from '../../../src/operations/known-place.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { useTestWaits } from '../../support/test-waits.ts';
import {
  AT,
  type PlaceScene,
  placeOf,
  placeScene,
  SESSION,
  SYSTEM_ERROR,
  UNKNOWN,
} from '../support/place-scene.ts';

/** A place that another operation of its bet overtook: the bet has a row, but no player yet. */

useTestWaits();

const STORED = Buffer.from('as it is kept');
const ID = 'b26153f9';
const SUCCESS = { status: 200, body: `{"transactionId":"${ID}","transactionTime":"${AT}"}` };
const UNSEEN: Bet = {
  ...{ ...FRESH, transactionId: ID, owner: undefined, sessionId: undefined },
  ...{ amount: undefined, currency: undefined, place: { kind: 'unseen' }, version: 4 },
};
function placing(scene: PlaceScene = {}, changes: Readonly<Record<string, string>> = {}) {
  const parts = placeScene({ bets: [UNSEEN], ...scene });
  const { callbacks, deadline } = parts;
  const message = placeOf(changes);
  const handled = answerKnownPlace({ callbacks, message, stored: STORED, deadline }, SESSION);
  return { ...parts, handled };
}

async function placed(scene: PlaceScene = {}, changes: Readonly<Record<string, string>> = {}) {
  const parts = placing(scene, changes);
  return { ...parts, handled: await parts.handled };
}

describe('a place that comes after another operation of its bet', () => {
  it('is written into the bet’s row, sent, written again, and then answered (I3, I6)', async () => {
    const { handled, steps, kept } = await placed({}, { requestId: '"r1"' });
    expect(handled).toEqual({
      ...{ answer: SUCCESS, outcome: 'accepted', operatorId: 'alpha' },
      detail: { walletMs: 7, code: undefined },
    });
    expect(steps).toEqual(['commit', 'call', 'finish', 'changed']);
    const attemptId = kept.commits[0]?.record.attemptId;
    expect(attemptId).toMatch(/^[0-9a-f-]{36}$/);
    expect(kept.commits).toEqual([
      {
        from: UNSEEN,
        to: {
          ...{ ...UNSEEN, owner: SESSION.owner, sessionId: '5', amount: '12.10', currency: 'USD' },
          // The generation of the current wallet: the place is what brings a bet into its books.
          ...{ generation: 3, place: { kind: 'inFlight' } },
          busy: { operation: 'place', attemptId, lapsed: false },
        },
        record: { operation: 'place', attemptId, requestId: 'r1', body: STORED, answer: undefined },
        ...{ delivery: undefined, supersedes: [] },
      },
    ]);
    expect(kept.outcomes).toEqual([
      {
        ...{ transactionId: ID, attemptId, operationId: '7' },
        bet: { ...kept.commits[0]?.to, version: UNSEEN.version + 1 },
        attempt: expect.objectContaining({ result: 'accepted', answer: SUCCESS }),
        change: { place: { kind: 'accepted', transactionTime: AT } },
        ...{ confirmAfterMs: 60_000, delivery: { kind: 'none' } },
        caller: { before: new Date(8_000), lateAnswer: SYSTEM_ERROR },
      },
    ]);
  });

  it('reaches the wallet as any other, in the operator’s terms (I9)', async () => {
    const { kept, deadline } = await placed({}, { requestId: '"r1"' });
    expect(kept.calls).toMatchObject([
      { operation: 'place', method: 'POST', transactionId: ID, requestId: 'r1', deadline },
    ]);
    expect(JSON.parse(kept.calls[0]?.body ?? '')).toMatchObject({
      ...{ userId: 'ann', token: 'token-of-alpha' },
    });
  });

  it('is answered 100 if the outcome is unknown, and counted as a place (I2)', async () => {
    const { handled, counts } = await placed({ sent: UNKNOWN });
    expect(handled).toMatchObject({ answer: SYSTEM_ERROR, outcome: 'unknown' });
    expect(counts.unknown.mock.calls).toEqual([[{ operator: 'alpha', operation: 'place' }]]);
  });

  it('is answered 100 where its outcome is not on record in time (I3)', async () => {
    const { handled } = await placed({ finish: async () => ({ kind: 'late' }) });
    expect(handled).toEqual({
      ...{ answer: SYSTEM_ERROR, outcome: 'unknown', operatorId: 'alpha' },
      detail: { reason: 'not_recorded' },
    });
  });

  it('is not sent where its time was over by PostgreSQL’s clock (I11)', async () => {
    const { handled, steps } = placing({ commit: async () => ({ kind: 'tooLate' }) });
    await expect(handled).rejects.toMatchObject({ name: 'OutOfTime' });
    expect(steps).toEqual(['commit']);
  });
});
