import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import { settle } from '../../../src/operations/settle.ts';
import { accepted, failure } from '../../../src/protocol/answers.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import { PATIENT_MS } from '../../support/timing.ts';
import {
  AT_WALLET,
  betScene,
  declined,
  LIMIT,
  NO_ANSWER,
  PLAYER,
  type Scene,
  TRANSACTION,
  UNAVAILABLE,
} from '../support/bet-scene.ts';

/**
 * What a settle or unsettle writes, sends and answers; `result-not-brought.test.ts` has those that do not reach
 * their wallet.
 */

const CASHOUT = { resultType: '"cashout"', token: '"theirs"' };
const SESSION = { sessionId: '8', owner: PLAYER, currency: 'USD', expiresAtMs: 0 };
const ATTEMPT = expect.stringMatching(/^[0-9a-f-]{36}$/);

const settling = (scene: Scene = {}) => betScene('settle', scene);
/** A cashout whose player has a live token. */
const cashingOut = (scene: Scene = {}) => {
  const live = { kind: 'live', session: { ...SESSION, operatorToken: 'cashier' } } as const;
  return betScene('settle', { members: CASHOUT, sessions: { theirs: live }, ...scene });
};

describe('a result that its wallet takes', () => {
  it('is written first, sent second, recorded third and then answered (I3)', async () => {
    const scene = settling();
    expect(await settle(scene.callback)).toEqual({
      answer: accepted(TRANSACTION, AT_WALLET),
      outcome: 'accepted',
      operatorId: 'alpha',
      detail: { walletMs: 13, code: undefined },
    });
    expect(scene.steps).toEqual(['find', 'commit', 'call', 'finish', 'woken']);
    expect([scene.counted, scene.logged]).toEqual([[], []]);
  });

  it('is recorded as the wallet holds it, with its caller’s answer', async () => {
    const scene = settling();
    await settle(scene.callback);
    const settlement = { kind: 'settled', amount: '12.10', resultType: 'won' };
    expect(scene.outcomes).toEqual([
      {
        transactionId: TRANSACTION,
        bet: expect.objectContaining({ version: expect.any(Number) }),
        attemptId: ATTEMPT,
        operationId: '77',
        attempt: {
          ...{ startedAtMs: 1_000_000, result: 'accepted', error: undefined },
          trace: { sent: true, latencyMs: 12.6 },
          answer: accepted(TRANSACTION, AT_WALLET),
        },
        change: { settlement: { ...settlement, transactionTime: AT_WALLET }, stands: true },
        confirmAfterMs: 60_000,
        delivery: { kind: 'none' },
        caller: { before: LIMIT, lateAnswer: UNAVAILABLE },
      },
    ]);
  });

  it('is answered 503 when that was committed too late: the service repeats it (I3)', async () => {
    const scene = settling();
    scene.bets.finish.mockResolvedValue({ kind: 'late' });
    expect(await settle(scene.callback)).toEqual({
      answer: UNAVAILABLE,
      outcome: 'unknown',
      operatorId: 'alpha',
      detail: { walletMs: 13, reason: 'not_recorded' },
    });
  });

  it('is answered 503 when nobody knows whether it is committed, and that goes on record (I3)', async () => {
    const scene = settling();
    scene.bets.finish.mockRejectedValue(new GatewayError('DATABASE_UNAVAILABLE', 'away'));
    expect(await settle(scene.callback)).toMatchObject({
      answer: UNAVAILABLE,
      outcome: 'unknown',
    });
    await vi.waitFor(
      () =>
        expect(scene.bets.correctAnswer).toHaveBeenCalledWith(
          expect.objectContaining({ transactionId: TRANSACTION, lateAnswer: UNAVAILABLE }),
        ),
      PATIENT_MS,
    );
  });

  it('is not sent when its time was over before it was written (I11)', async () => {
    const scene = settling();
    scene.bets.commit.mockResolvedValueOnce({ kind: 'tooLate' });
    await expect(settle(scene.callback)).rejects.toThrow(
      expect.objectContaining({ name: 'OutOfTime' }),
    );
    expect(scene.calls).toEqual([]);
  });
});

describe('the message to the wallet', () => {
  const text = (scene: ReturnType<typeof settling>) => scene.calls[0]?.body;

  it('has the operator’s player and every other byte as it came (I9)', async () => {
    const scene = settling({ members: { extra: '1.10' } });
    await settle(scene.callback);
    expect(text(scene)).toBe(
      '{"transactionId":"b26153f9","userId":"ann","amount":12.10,"currency":"USD","type":2,' +
        '"resultType":"won","extra":1.10}',
    );
    expect(scene.sessions.operatorTokenOf).not.toHaveBeenCalled();
    expect(scene.bets.resultsOf).not.toHaveBeenCalled();
  });

  it('has the token that the bet was placed with in place of the service’s', async () => {
    const scene = settling({ members: { token: '"theirs"' } });
    await settle(scene.callback);
    expect(text(scene)).toContain('"token":"token of session 7"');
  });

  it('has the token of the session that asks for a cashout', async () => {
    const scene = cashingOut();
    await settle(scene.callback);
    expect(text(scene)).toContain('"token":"cashier"');
    expect(scene.sessions.operatorTokenOf).not.toHaveBeenCalled();
  });

  it('goes out under the service’s requestId, else under that of its attempt', async () => {
    const scene = settling({ members: { requestId: '"r1"' } });
    await settle(scene.callback);
    expect(scene.calls).toMatchObject([{ transactionId: TRANSACTION, requestId: 'r1' }]);
    const nameless = settling();
    await settle(nameless.callback);
    const { attemptId } = nameless.outcomes[0] ?? {};
    expect(nameless.calls).toMatchObject([{ requestId: attemptId, deadline: nameless.deadline }]);
    expect(attemptId).toEqual(ATTEMPT);
  });

  it('carries the requestId of the first try, for a wallet that knows a result by it (I5)', async () => {
    const first: RecordedOperation = {
      ...{ id: '1', operation: 'settle', attemptId: 'a1', requestId: 'first' },
      body: body({ ...BETS.settle.members, requestId: '"first"' }),
      ...{ answer: UNAVAILABLE, wasSent: true, isConcluded: false, isRefused: false },
    };
    const members = { requestId: '"second"' };
    const scene = settling({ members, recorded: [first], dialect: { stableRequestId: true } });
    await settle(scene.callback);
    expect(scene.calls).toMatchObject([{ requestId: 'first' }]);
    expect(text(scene)).toContain('"requestId":"first"');
    const other = settling({ members, recorded: [first] });
    await settle(other.callback);
    expect(other.calls).toMatchObject([{ requestId: 'second' }]);
    expect(text(other)).toContain('"requestId":"second"');
  });

  it('may not leave any more once its attempt is older than its lease allows (I6)', async () => {
    const scene = settling();
    await settle(scene.callback);
    const maySend = scene.calls[0]?.maySend;
    expect(maySend?.()).toBe(true);
    scene.clock.atMs += 5_000;
    expect(maySend?.()).toBe(false);
  });
});

describe('a result that its wallet does not take', () => {
  it('is refused with the wallet’s own code', async () => {
    const scene = settling({ sent: declined(20) });
    expect(await settle(scene.callback)).toEqual({
      answer: failure(20, 'No'),
      outcome: 'declined',
      operatorId: 'alpha',
      detail: { walletMs: 5, code: 20 },
    });
    expect(scene.outcomes).toMatchObject([{ change: {}, delivery: { kind: 'none' } }]);
  });

  it('is unknown without an answer: 503, counted, and the bet’s result is unknown too (I2)', async () => {
    const scene = settling({ sent: NO_ANSWER });
    expect(await settle(scene.callback)).toEqual({
      answer: UNAVAILABLE,
      outcome: 'unknown',
      operatorId: 'alpha',
      detail: { walletMs: 4_000, reason: 'timeout' },
    });
    const attempted = { kind: 'settle', amount: '12.10', resultType: 'won' };
    expect(scene.outcomes).toMatchObject([
      {
        change: { settlement: { kind: 'unknown', attempted }, late: attempted },
        delivery: { kind: 'none' },
        attempt: { answer: UNAVAILABLE },
      },
    ]);
    expect(scene.counted).toEqual([
      ['unknownOutcomes', { operator: 'alpha', operation: 'settle' }],
    ]);
  });
});
