import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { rollback } from '../../../src/operations/rollback.ts';
import { accepted } from '../../../src/protocol/answers.ts';
import {
  AT_WALLET,
  betScene,
  declined,
  LIMIT,
  NO_ANSWER,
  NOT_CONNECTED,
  NOW,
  PLACED,
  type Scene,
  SETTLED_BET,
  STORED,
  TRANSACTION,
} from '../support/bet-scene.ts';

/** What rollback and update share: promised first, tried second, and answered 200. */

const PROMISED = accepted(TRANSACTION, NOW);
const PROMISE = { operation: 'rollback', transactionTime: NOW, horizonMs: 7_200_000 };
const ATTEMPT = expect.stringMatching(/^[0-9a-f-]{36}$/);
const FENCED: Bet = { ...PLACED, rollback: { kind: 'promised', transactionTime: NOW } };

const rollingBack = (scene: Scene = {}) => betScene('rollback', scene);

afterEach(() => vi.restoreAllMocks());

describe('an operation that is promised and then tried', () => {
  it('is a promise before it is sent, and no longer one when the wallet took it (I3, I4)', async () => {
    const scene = rollingBack({ members: { requestId: '"r1"' } });
    expect(await rollback(scene.callback)).toEqual({
      answer: accepted(TRANSACTION, AT_WALLET),
      outcome: 'accepted',
      operatorId: 'alpha',
      detail: { walletMs: 13, code: undefined },
    });
    expect(scene.steps).toEqual(['fence', 'find', 'commit', 'call', 'finish', 'woken']);
    const record = { operation: 'rollback', attemptId: ATTEMPT, requestId: 'r1', body: STORED };
    expect(scene.commits).toEqual([
      {
        from: PLACED,
        to: { ...FENCED, busy: { operation: 'rollback', attemptId: ATTEMPT, lapsed: false } },
        record: { ...record, answer: undefined },
        delivery: { ...PROMISE, state: 'live' },
        supersedes: [],
      },
    ]);
  });

  it('frees the bet with the wallet’s answer, and with the answer for the service if that comes too late', async () => {
    const scene = rollingBack();
    await rollback(scene.callback);
    const { attemptId } = scene.commits[0]?.record ?? {};
    expect(attemptId).toBe(scene.commits[0]?.to.busy?.attemptId);
    expect(scene.outcomes).toEqual([
      {
        ...{ transactionId: TRANSACTION, attemptId, operationId: '77', confirmAfterMs: 60_000 },
        bet: expect.objectContaining({ version: PLACED.version + 1 }),
        attempt: {
          ...{ startedAtMs: 1_000_000, result: 'accepted', error: undefined },
          trace: { sent: true, latencyMs: 12.6 },
          answer: accepted(TRANSACTION, AT_WALLET),
        },
        change: { rollback: { kind: 'confirmed', transactionTime: AT_WALLET }, stands: true },
        delivery: {
          ...{ kind: 'after', after: { kind: 'delivered' } },
          ...{ purpose: 'promise', promisedTime: NOW, isCounted: false },
        },
        caller: { before: LIMIT, lateAnswer: PROMISED },
      },
    ]);
  });

  it.each([
    ['the wallet did not answer', NO_ANSWER, { walletMs: 4_000, reason: 'timeout' }],
    ['no wallet was reached', NOT_CONNECTED, { walletMs: 2, reason: 'connection' }],
    ['the wallet refused it', declined(5), { walletMs: 5, code: 5 }],
  ] as const)('stays a promise, and is answered 200, where %s (I4)', async (_, sent, detail) => {
    vi.spyOn(Math, 'random').mockReturnValue(0.9);
    const scene = rollingBack({ sent });
    expect(await rollback(scene.callback)).toEqual({
      answer: PROMISED,
      outcome: 'taken_over',
      operatorId: 'alpha',
      detail,
    });
    const after = { kind: 'pending', retryInMs: 1_800 };
    expect(scene.outcomes).toMatchObject([
      { change: {}, delivery: { after }, attempt: { answer: PROMISED } },
    ]);
  });

  it('is answered with its promise when the outcome was committed too late (I1, I3)', async () => {
    const scene = rollingBack({ sent: declined(8) });
    scene.bets.finish.mockResolvedValue({ kind: 'late' });
    expect(await rollback(scene.callback)).toEqual({
      answer: PROMISED,
      outcome: 'taken_over',
      operatorId: 'alpha',
      detail: { walletMs: 5, code: 8 },
    });
  });

  it('is a promise, and not sent, if it was written too late for its wallet but not for its answer (I3)', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { trace } = NOT_CONNECTED;
    const scene = rollingBack({
      spentMs: 4_449,
      sent: { kind: 'notSent', reason: 'deadline', trace },
    });
    scene.bets.commit.mockImplementationOnce(async () => {
      await vi.advanceTimersByTimeAsync(200);
      return { kind: 'committed', operationId: '77' };
    });
    expect(await rollback(scene.callback)).toMatchObject({
      ...{ answer: PROMISED, outcome: 'taken_over' },
    });
    expect(scene.outcomes).toMatchObject([{ delivery: { after: { kind: 'unsent' } } }]);
  });

  it('is not sent to a wallet that took the place of its own while it was written (I4)', async () => {
    const scene = rollingBack();
    scene.bets.commit.mockImplementationOnce(async () => {
      const alpha = scene.configuration.operators.get('alpha');
      if (alpha !== undefined) alpha.wallet.generation = 2;
      return { kind: 'committed', operationId: '77' };
    });
    expect(await rollback(scene.callback)).toMatchObject({ answer: PROMISED });
    expect(scene.calls).toEqual([]);
    expect(scene.outcomes).toMatchObject([{ delivery: { after: { kind: 'unsent' } } }]);
  });

  it('is neither sent nor promised when its time was over before it was written (I11)', async () => {
    const scene = rollingBack();
    scene.bets.commit.mockResolvedValueOnce({ kind: 'tooLate' });
    await expect(rollback(scene.callback)).rejects.toThrow(
      expect.objectContaining({ name: 'OutOfTime' }),
    );
    expect(scene.calls).toEqual([]);
  });
});

describe('an operation that cannot be sent now', () => {
  const reasons: readonly (readonly [string, Scene])[] = [
    ['the bet is of an older wallet', { generation: 2 }],
    ['the wallet takes no calls', { refusal: 'breaker' }],
    ['too little time is left', { spentMs: 4_451 }],
  ];
  it.each(reasons)('is promised at once, and answered 200, where %s (I3, I4)', async (_, how) => {
    const scene = rollingBack(how);
    expect(await rollback(scene.callback)).toMatchObject({
      answer: PROMISED,
      outcome: 'taken_over',
      operatorId: 'alpha',
    });
    expect(scene.commits).toEqual([
      {
        from: PLACED,
        to: FENCED,
        record: {
          ...{ operation: 'rollback', attemptId: ATTEMPT, requestId: undefined, body: STORED },
          answer: PROMISED,
        },
        delivery: { ...PROMISE, state: 'pending' },
        supersedes: [],
      },
    ]);
    expect([scene.calls, scene.outcomes]).toEqual([[], []]);
  });
});

describe('the message of a promised operation', () => {
  it('has the operator’s player and every other byte as it came (I9)', async () => {
    const scene = rollingBack({ members: { extra: '1.10' } });
    await rollback(scene.callback);
    expect(scene.calls).toMatchObject([{ operation: 'rollback', method: 'PUT' }]);
    expect(scene.calls[0]?.body).toBe(
      '{"transactionId":"b26153f9","userId":"ann","amount":12.10,"currency":"USD","type":3,' +
        '"errorCode":50,"extra":1.10}',
    );
  });

  it('goes out under the service’s requestId, else under that of its attempt', async () => {
    const named = rollingBack({ members: { requestId: '"r1"' } });
    await rollback(named.callback);
    expect(named.calls).toMatchObject([{ transactionId: TRANSACTION, requestId: 'r1' }]);
    const scene = rollingBack();
    await rollback(scene.callback);
    const { deadline, outcomes } = scene;
    expect(scene.calls).toMatchObject([{ requestId: outcomes[0]?.attemptId, deadline }]);
    expect(outcomes[0]?.attemptId).toEqual(ATTEMPT);
  });

  it('says whether the wallet took a result: "nothing to roll back" would hide a loss then', async () => {
    const scene = rollingBack();
    await rollback(scene.callback);
    expect(scene.calls).toMatchObject([{ hadResult: false }]);
    const settled = rollingBack({ looks: [SETTLED_BET] });
    await rollback(settled.callback);
    expect(settled.calls).toMatchObject([{ hadResult: true }]);
  });

  it('may not leave any more once its attempt is older than its lease allows (I6)', async () => {
    const scene = rollingBack();
    await rollback(scene.callback);
    const maySend = scene.calls[0]?.maySend;
    expect(maySend?.()).toBe(true);
    scene.clock.wallMs += 5_000;
    expect(maySend?.()).toBe(false);
  });
});
