import { describe, expect, it, vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { placeBet } from '../../../src/operations/place.ts';
import { failure } from '../../../src/protocol/answers.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { useTestWaits } from '../../support/test-waits.ts';
import {
  AT,
  DECLINED,
  NOT_SENT,
  type PlaceScene,
  placeOf,
  placeScene,
  SESSION,
  SYSTEM_ERROR,
  UNKNOWN,
} from '../support/place-scene.ts';

/** The rules, with parts that behave as the test says; other files test them over HTTP. */

useTestWaits();

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

/** How it fails, after letting all the necessary time pass. */
async function failed(scene: PlaceScene) {
  const parts = placeScene(scene);
  const { callbacks, deadline } = parts;
  const placing = placeBet({ callbacks, message: placeOf(), stored: STORED, deadline }).catch(
    (error: unknown) => error,
  );
  await vi.advanceTimersByTimeAsync(60_000);
  return { ...parts, error: await placing };
}

describe('a place', () => {
  it('is written, sent, written again, and then answered (I3)', async () => {
    const { handled, steps, kept, route } = await placed({}, { requestId: '"r1"' });
    expect(handled).toEqual({
      ...{ answer: SUCCESS, outcome: 'accepted', operatorId: 'alpha' },
      detail: { walletMs: 7, code: undefined },
    });
    expect(steps).toEqual(['begin', 'call', 'finish', 'changed']);
    expect(route.mock.calls).toEqual([['5caa4cabce']]);
    const [intent] = kept.intents;
    expect(kept.intents).toEqual([
      {
        ...{ transactionId: ID, attemptId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        ...{ operatorId: 'alpha', playerId: '9', sessionId: '5', amount: '12.10', currency: 'USD' },
        ...{ generation: 3, requestId: 'r1', body: STORED, notSent: undefined },
        tokenHash: Buffer.from('hash of 5caa4cabce'),
      },
    ]);
    expect(kept.results).toEqual([
      {
        ...{ transactionId: ID, attemptId: intent?.attemptId, operationId: '7' },
        place: { kind: 'accepted', transactionTime: AT },
        attempt: expect.objectContaining({ result: 'accepted', answer: SUCCESS }),
        lateAnswer: SYSTEM_ERROR,
      },
    ]);
  });

  it('reaches the wallet in the operator’s terms, by its own request (I9)', async () => {
    const { kept, deadline } = await placed({}, { requestId: '"r1"', odd: '1.50' });
    expect(kept.calls).toEqual([
      {
        ...{ operation: 'place', method: 'POST', transactionId: ID, requestId: 'r1', deadline },
        body:
          `{"transactionId":"${ID}","userId":"ann","amount":12.10,"currency":"USD","type":1,` +
          '"token":"token-of-alpha","requestId":"r1","odd":1.50}',
        maySend: expect.any(Function),
        hadResult: false,
      },
    ]);
    expect(kept.calls[0]?.maySend?.()).toBe(true);
  });

  it('is remembered for its copies, with what it was answered for', async () => {
    const { remember } = await placed({ sent: DECLINED });
    const content = { userId: '1999', amount: '12.10', currency: 'USD', operatorId: 'alpha' };
    const { status, body } = failure(7, 'No money');
    expect(remember.mock.calls).toEqual([[ID, { ...content, status, body }]]);
  });

  it.each([
    ['declined by the wallet', DECLINED, 'declined', failure(7, 'No money'), { code: 7 }],
    ['of unknown outcome', UNKNOWN, 'unknown', SYSTEM_ERROR, { reason: 'timeout' }],
    ['that no connection took', NOT_SENT, 'not_sent', SYSTEM_ERROR, { reason: 'connection' }],
  ] as const)('%s says so (I2)', async (_, sent, outcome, answer, why) => {
    const { handled, kept } = await placed({ sent });
    expect(handled).toEqual({
      ...{ answer, outcome, operatorId: 'alpha', detail: { walletMs: 7, ...why } },
    });
    expect(kept.results[0]?.attempt.answer).toEqual(answer);
  });

  it.each(['late', 'lost'] as const)(
    'whose outcome is on record %s is answered 100, and not remembered (I3)',
    async (kind) => {
      const { handled, remember } = await placed({ finish: async () => ({ kind }) });
      expect(handled).toEqual({
        ...{ answer: SYSTEM_ERROR, outcome: 'unknown', operatorId: 'alpha' },
        detail: { reason: 'not_recorded' },
      });
      expect(remember).not.toHaveBeenCalled();
    },
  );
});

describe('a place whose operator has come by another wallet while it was written', () => {
  it('is not sent to that one, and answered 100 (I2)', async () => {
    const { handled, steps, kept } = await placed({ generationThen: 4 });
    expect(steps).toEqual(['begin', 'finish', 'changed']);
    expect(kept.results[0]).toMatchObject({
      place: { kind: 'notSent' },
      attempt: { error: 'the bet is in the books of another wallet' },
    });
    expect(handled).toEqual({
      ...{ answer: SYSTEM_ERROR, outcome: 'not_sent', operatorId: 'alpha' },
      detail: { walletMs: 0, reason: 'maintenance' },
    });
  });
});

describe('a place that will not be sent', () => {
  it.each<[string, PlaceScene, string | undefined]>([
    ['its operator has no wallet', { hasNoWallet: true }, 'maintenance'],
    ['the wallet takes no calls', { refusal: 'breaker' }, 'breaker'],
    ['too little time is left for the wallet', { lateMs: 651 }, 'deadline'],
  ])('is on record as not sent, counted, and answered 100: %s (I3)', async (_, scene, reason) => {
    const { handled, steps, kept, counts } = await placed(scene);
    expect(handled).toEqual({
      ...{ answer: SYSTEM_ERROR, outcome: 'not_sent', operatorId: 'alpha', detail: { reason } },
    });
    expect(steps).toEqual(['begin']);
    expect(kept.intents).toMatchObject([{ notSent: SYSTEM_ERROR }]);
    expect(counts.rejected.mock.calls).toEqual([[{ operator: 'alpha', reason }]]);
  });

  it('is sent with 50 ms for the wallet beside some for the journal', async () => {
    expect((await placed({ lateMs: 649 })).steps).toContain('call');
  });

  it('is not begun where no time is left for its answer (I11)', async () => {
    const { error, steps, counts } = await failed({ hasNoWallet: true, lateMs: 950 });
    expect(error).toMatchObject({ name: 'OutOfTime' });
    expect(steps).toEqual([]);
    expect(counts.rejected.mock.calls).toEqual([[{ operator: 'alpha', reason: 'database' }]]);
  });

  it('is no longer wanted once its caller was answered (I11)', async () => {
    const never = new Promise<never>(() => undefined);
    const { error, kept, counts } = await failed({ hasNoWallet: true, begin: () => never });
    expect(error).toMatchObject({ name: 'OutOfTime', message: 'gave up after 950 ms' });
    expect(kept.wanted.map((isWanted) => isWanted())).toEqual([false]);
    expect(counts.rejected.mock.calls).toEqual([[{ operator: 'alpha', reason: 'database' }]]);
  });
});

describe('a place whose intent is not committed', () => {
  it('in time for the wallet is not sent, and wanted no more (I11)', async () => {
    const never = new Promise<never>(() => undefined);
    const { error, kept, counts, steps } = await failed({ begin: () => never });
    // 1000 ms, minus the reserve, minus what the wallet needs.
    expect(error).toMatchObject({ name: 'OutOfTime', message: 'gave up after 650 ms' });
    expect(kept.wanted.map((isWanted) => isWanted())).toEqual([false]);
    expect(counts.rejected.mock.calls).toEqual([[{ operator: 'alpha', reason: 'database' }]]);
    expect(steps).toEqual(['begin']);
  });

  it('by PostgreSQL’s clock is answered 100 and counted (I11)', async () => {
    const { handled, counts, steps } = await placed({ begin: async () => ({ kind: 'tooLate' }) });
    expect(handled).toEqual({
      ...{ answer: SYSTEM_ERROR, outcome: 'not_sent', operatorId: 'alpha' },
      detail: { reason: 'database' },
    });
    expect(counts.rejected.mock.calls).toEqual([[{ operator: 'alpha', reason: 'database' }]]);
    expect(steps).toEqual(['begin']);
  });
});

describe('a place that is known already', () => {
  const known = async () => ({ kind: 'known' }) as const;

  it('gets the recorded answer, and the wallet no second call (I5)', async () => {
    const { handled, steps } = await placed({ begin: known, bets: [PLACED] });
    expect(handled).toEqual({ answer: SUCCESS, outcome: 'duplicate', operatorId: 'alpha' });
    expect(steps).toEqual(['begin']);
  });

  it('is sent if only later operations have mentioned its bet', async () => {
    const unseen: Bet = { ...PLACED, owner: undefined, place: { kind: 'unseen' } };
    const { handled, steps } = await placed({ begin: known, bets: [unseen] });
    expect(handled).toMatchObject({ answer: SUCCESS, outcome: 'accepted' });
    expect(steps).toEqual(['begin', 'commit', 'call', 'finish', 'changed']);
  });
});
