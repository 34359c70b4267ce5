import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Bet, LateEffect } from '../../../src/domain/bet.ts';
import { settle } from '../../../src/operations/settle.ts';
import { unsettle } from '../../../src/operations/unsettle.ts';
import { accepted } from '../../../src/protocol/answers.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import {
  betScene,
  NO_ANSWER,
  NOW,
  PLACED,
  type Scene,
  SETTLED_BET,
  STORED,
  THEN,
  TRANSACTION,
  UNAVAILABLE,
  waiting,
} from '../support/bet-scene.ts';

/** A settle or unsettle that does not reach its wallet, or has to wait. */

const TAKEN_OVER = accepted(TRANSACTION, NOW);
/** An unsettle that may have reached its wallet. */
const OPEN_UNSETTLE: RecordedOperation = {
  ...{ id: '1', operation: 'unsettle', attemptId: 'a1', requestId: 'first' },
  ...{ body: body(BETS.unsettle.members), answer: UNAVAILABLE },
  ...{ wasSent: true, isConcluded: false, isRefused: false },
};
const LATE: LateEffect = {
  ...{ operation: { kind: 'unsettle' }, atMs: 0, confirmationsLeft: 1, isConfirming: false },
};
/** The promise of the smallest settle. */
const PROMISE = {
  ...{ operation: 'settle', state: 'pending', transactionTime: NOW, horizonMs: 7_200_000 },
  settle: { amount: '12.10', resultType: 'won' },
};

const settling = (scene: Scene = {}) => betScene('settle', scene);
const queueing = (scene: Scene = {}) => betScene('settle', { onFailure: 'queue', ...scene });

afterEach(() => vi.restoreAllMocks());

/** Reasons why nothing can be sent now. */
const REASONS: readonly (readonly [string, string, Scene])[] = [
  ['its operator has no wallet any more', 'maintenance', { sent: null }],
  ['the bet is of an older wallet', 'maintenance', { generation: 2 }],
  ['the wallet takes no calls', 'breaker', { refusal: 'breaker' }],
  ['too little time is left', 'deadline', { spentMs: 4_451 }],
];

describe('a result that cannot be sent now', () => {
  it.each(REASONS)('is answered 503 and counted where %s', async (_, reason, how) => {
    const scene = settling(how);
    expect(await settle(scene.callback)).toEqual({
      answer: UNAVAILABLE,
      outcome: 'not_sent',
      operatorId: 'alpha',
      detail: { reason },
    });
    expect(scene.counted).toEqual([['rejected', { operator: 'alpha', reason }]]);
    expect([scene.commits, scene.calls]).toEqual([[], []]);
  });

  it.each(REASONS.slice(1))(
    'is promised and answered 200 with `queue` if %s (I3, I4)',
    async (_, __, how) => {
      const scene = queueing(how);
      expect(await settle(scene.callback)).toMatchObject({
        answer: TAKEN_OVER,
        outcome: 'taken_over',
        operatorId: 'alpha',
      });
      expect(scene.commits).toMatchObject([
        {
          ...{ from: PLACED, to: PLACED, delivery: PROMISE, supersedes: [] },
          record: { operation: 'settle', body: STORED, answer: TAKEN_OVER },
        },
      ]);
      expect([scene.calls, scene.counted]).toEqual([[], []]);
    },
  );
});

describe('with `queue`, a first settle that was not delivered', () => {
  it('is a promise from now on, tried again after a while, and answered 200 (I4)', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.9);
    const scene = queueing({ sent: NO_ANSWER });
    expect(await settle(scene.callback)).toEqual({
      answer: TAKEN_OVER,
      outcome: 'taken_over',
      operatorId: 'alpha',
      detail: { walletMs: 4_000, reason: 'timeout' },
    });
    expect(scene.outcomes).toMatchObject([
      {
        delivery: { kind: 'new', delivery: PROMISE, retryInMs: 1_800 },
        attempt: { answer: TAKEN_OVER },
        caller: { lateAnswer: UNAVAILABLE },
      },
    ]);
  });

  it('is no promise when it was committed too late: answered 503 (I11)', async () => {
    const scene = queueing({ sent: NO_ANSWER });
    scene.bets.finish.mockResolvedValue({ kind: 'late' });
    expect(await settle(scene.callback)).toMatchObject({ answer: UNAVAILABLE, outcome: 'unknown' });
  });

  it('is no promise when its caller has gone: nobody would hear of it (I11)', async () => {
    const scene = queueing();
    scene.wallet.bet.mockImplementation(async () => {
      scene.deadline.end();
      return NO_ANSWER;
    });
    expect(await settle(scene.callback)).toMatchObject({ answer: UNAVAILABLE });
    expect(scene.outcomes).toMatchObject([{ delivery: { kind: 'none' } }]);
  });
});

describe('a wallet that pays a repeat again (I5)', () => {
  const dialect = { holdUnknownRepeats: true };
  const unknown: Bet = {
    ...PLACED,
    settlement: { kind: 'unknown', attempted: { kind: 'several' } },
  };

  it('is never sent a result while one is unknown: 503, and somebody is called', async () => {
    const scene = settling({ looks: [unknown], dialect });
    expect(await settle(scene.callback)).toEqual({
      answer: UNAVAILABLE,
      outcome: 'unknown',
      operatorId: 'alpha',
      detail: { reason: 'held' },
    });
    expect([scene.commits, scene.calls]).toEqual([[], []]);
    const facts = { operator: 'alpha', operation: 'settle', transactionId: TRANSACTION };
    expect(scene.logged).toEqual([['error', facts, 'bet.repeat_held']]);
  });

  it('leaves a person a dead letter of that result, unless its outcome is known to the worker as late', async () => {
    const scene = settling({ looks: [unknown], recorded: [OPEN_UNSETTLE], dialect });
    await settle(scene.callback);
    expect(scene.confirmations.leaveToPerson.mock.calls).toEqual([[unknown, '1', undefined]]);
    const late = { ...unknown, late: LATE };
    const other = settling({ looks: [late], recorded: [OPEN_UNSETTLE], dialect });
    expect(await settle(other.callback)).toMatchObject({ detail: { reason: 'held' } });
    expect(other.confirmations.leaveToPerson).not.toHaveBeenCalled();
  });

  it.each(['error', 'queue'] as const)(
    'leaves a person a dead letter of what it did not answer, with %s',
    async (onFailure) => {
      const scene = settling({ sent: NO_ANSWER, dialect, onFailure });
      expect(await settle(scene.callback)).toMatchObject({
        answer: UNAVAILABLE,
        outcome: 'unknown',
      });
      expect(scene.outcomes).toMatchObject([
        {
          delivery: { kind: 'new', delivery: { ...PROMISE, state: 'dead' }, retryInMs: 0 },
          caller: { lateAnswer: UNAVAILABLE },
        },
      ]);
    },
  );
});

describe('a result of a bet with promises that wait', () => {
  it('waits behind what a wallet may have seen, as a promise of its own (I6)', async () => {
    const attempted: Bet = { ...PLACED, deliveries: [waiting({ attempts: 1 })] };
    const scene = betScene('unsettle', { looks: [attempted] });
    expect(await unsettle(scene.callback)).toMatchObject({
      answer: TAKEN_OVER,
      outcome: 'taken_over',
    });
    expect(scene.commits).toEqual([
      expect.objectContaining({
        ...{ from: attempted, to: attempted, supersedes: [] },
        // A result has an amount; an unsettle has none.
        delivery: {
          ...{ operation: 'unsettle', state: 'pending', transactionTime: NOW },
          horizonMs: 7_200_000,
        },
      }),
    ]);
  });

  it('replaces what no wallet has seen', async () => {
    const scene = settling({ looks: [{ ...PLACED, deliveries: [waiting()] }] });
    expect(await settle(scene.callback)).toMatchObject({ answer: TAKEN_OVER });
    expect(scene.commits).toMatchObject([{ delivery: PROMISE, supersedes: ['9'] }]);
  });

  it('cancels a settle that no wallet has seen, and nothing is sent', async () => {
    const from: Bet = { ...PLACED, deliveries: [waiting()] };
    const scene = betScene('unsettle', { looks: [from] });
    expect(await unsettle(scene.callback)).toMatchObject({
      answer: TAKEN_OVER,
      outcome: 'not_sent',
    });
    expect(scene.commits).toMatchObject([
      {
        from,
        to: { ...from, settlement: { kind: 'unsettled', transactionTime: NOW } },
        delivery: undefined,
        supersedes: ['9'],
      },
    ]);
    expect(scene.calls).toEqual([]);
  });

  it('cancels the pending unsettle of the very result that stands, with its time', async () => {
    const from: Bet = { ...SETTLED_BET, deliveries: [waiting({ operation: 'unsettle' })] };
    const scene = settling({ looks: [from] });
    expect(await settle(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, THEN),
      outcome: 'not_sent',
    });
    expect(scene.commits).toMatchObject([{ from, to: from, supersedes: ['9'] }]);
    expect([scene.calls, scene.commits[0]?.delivery]).toEqual([[], undefined]);
  });
});
