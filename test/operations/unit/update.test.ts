import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { update } from '../../../src/operations/update.ts';
import { accepted } from '../../../src/protocol/answers.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import {
  AT_WALLET,
  betScene,
  declined,
  NO_ANSWER,
  NOW,
  PLACED,
  type Scene,
  STORED,
  THEN,
  TRANSACTION,
  waiting,
} from '../support/bet-scene.ts';

/** The key of the smallest update: its odds, no booster, no legs. */
const KEY = '1.2;;';
const PROMISED = { key: KEY, transactionTime: NOW };
const updating = (scene: Scene = {}) => betScene('update', scene);
const before = { key: 'other odds', transactionTime: THEN };
/** A bet that already has this update. */
const UPDATED: Bet = { ...PLACED, update: { key: KEY, transactionTime: THEN }, version: 3 };
const AS_BEFORE = {
  answer: accepted(TRANSACTION, THEN),
  outcome: 'duplicate',
  operatorId: 'alpha',
};

describe('an update', () => {
  it('is promised, sent, and answered as the wallet answered (I3, I4)', async () => {
    const scene = updating();
    expect(await update(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, AT_WALLET),
      outcome: 'accepted',
      operatorId: 'alpha',
    });
    expect(scene.steps).toEqual(['find', 'commit', 'call', 'finish', 'woken']);
    expect(scene.commits).toMatchObject([
      { to: { update: PROMISED }, delivery: { operation: 'update', state: 'live' } },
    ]);
    expect(scene.outcomes).toMatchObject([
      { change: { update: { key: KEY, transactionTime: AT_WALLET } } },
    ]);
  });

  it('replaces older ones that are pending: only the last odds count', async () => {
    const deliveries = [waiting({ id: '8', operation: 'update' }), waiting({ id: '9' })];
    const scene = updating({ looks: [{ ...PLACED, deliveries }] });
    await update(scene.callback);
    expect(scene.commits).toMatchObject([{ supersedes: ['8'] }]);
  });

  it('stays a promise where it got no answer (I4)', async () => {
    const scene = updating({ sent: NO_ANSWER });
    expect(await update(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'taken_over',
    });
    expect(scene.outcomes).toMatchObject([
      { change: {}, delivery: { after: { kind: 'pending' } } },
    ]);
  });

  it('is answered 200 where the wallet refused it for good, and the odds before it are in force', async () => {
    const scene = updating({ looks: [{ ...PLACED, update: before }], sent: declined(5) });
    expect(await update(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'declined',
    });
    expect(scene.outcomes).toMatchObject([
      { change: { update: before }, delivery: { after: { kind: 'refused' } } },
    ]);
  });
});

describe('an update that no wallet needs', () => {
  const kept = (from: Bet) => [
    {
      ...{ from, to: { ...from, update: PROMISED }, supersedes: [] },
      record: { operation: 'update', body: STORED, answer: accepted(TRANSACTION, NOW) },
    },
  ];
  const rolledBack: Bet = { ...PLACED, rollback: { kind: 'promised', transactionTime: THEN } };

  it.each([
    ['the bet is rolled back', rolledBack],
    ['no wallet ever held it', { ...PLACED, place: { kind: 'notSent' } } as const],
  ])('is kept and answered 200 where %s: its copy gets the same', async (_, from) => {
    const scene = updating({ looks: [from] });
    expect(await update(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'not_sent',
      operatorId: 'alpha',
    });
    expect(scene.commits).toMatchObject(kept(from));
    expect([scene.calls, scene.commits[0]?.delivery]).toEqual([[], undefined]);
  });

  it('is kept and answered 200 for a wallet that wants no updates', async () => {
    const scene = updating({ dialect: { skipUpdates: true } });
    expect(await update(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'not_sent',
    });
    expect(scene.commits).toMatchObject(kept(PLACED));
    expect([scene.calls, scene.commits[0]?.delivery]).toEqual([[], undefined]);
  });

  it('is promised where its operator’s file is gone: a wallet may come back (I4)', async () => {
    const scene = updating({ sent: null });
    expect(await update(scene.callback)).toMatchObject({ outcome: 'taken_over' });
    expect(scene.commits).toMatchObject([{ delivery: { state: 'pending' } }]);
  });
});

describe('a copy of an update', () => {
  it('gets its success again, recorded as a copy (I5)', async () => {
    const scene = updating({ looks: [UPDATED], members: { requestId: '"copy"' } });
    expect(await update(scene.callback)).toEqual(AS_BEFORE);
    expect([scene.commits, scene.calls]).toEqual([[], []]);
    expect(scene.bets.recordCopy).toHaveBeenCalledOnce();
  });

  it('gets the recorded answer of its requestId, even when other odds came since (I5)', async () => {
    const answer = accepted(TRANSACTION, '2026-01-01T00:00:00.000Z');
    const first: RecordedOperation = {
      ...{ id: '1', operation: 'update', attemptId: 'a1', requestId: 'r1' },
      body: body({ ...BETS.update.members, requestId: '"r1"' }),
      ...{ answer, wasSent: true, isConcluded: true, isRefused: false },
    };
    const scene = updating({
      looks: [{ ...UPDATED, update: before }],
      ...{ members: { requestId: '"r1"' }, recorded: [first] },
    });
    expect(await update(scene.callback)).toEqual({ ...AS_BEFORE, answer });
    expect(scene.calls).toEqual([]);
  });
});

describe('an update while another operation of its bet is on its way', () => {
  const busy: Bet['busy'] = { operation: 'update', attemptId: 'first', lapsed: false };
  const BUSY: Bet = { ...PLACED, busy, version: 3 };

  it('waits, and is sent when the bet is free (I6)', async () => {
    const scene = updating({ looks: [BUSY, { ...BUSY, busy: undefined }] });
    expect(await update(scene.callback)).toMatchObject({ outcome: 'accepted' });
    expect(scene.steps.slice(0, 4)).toEqual(['find', 'wait', 'find', 'commit']);
  });

  it('is promised behind it when its own time ends (I1, I4)', async () => {
    const scene = updating({ looks: [BUSY] });
    scene.changes.next.mockResolvedValue(false);
    expect(await update(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'taken_over',
    });
    expect(scene.commits).toMatchObject([
      {
        ...{ from: BUSY, to: { ...BUSY, update: PROMISED }, supersedes: [] },
        delivery: { operation: 'update', state: 'pending' },
      },
    ]);
    expect(scene.calls).toEqual([]);
  });
});
