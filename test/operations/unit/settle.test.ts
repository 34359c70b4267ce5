import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { settle } from '../../../src/operations/settle.ts';
import { accepted, failure } from '../../../src/protocol/answers.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import {
  betScene,
  NO_ANSWER,
  NOW,
  PLACED,
  type Scene,
  SETTLED_BET,
  THEN,
  TRANSACTION,
  UNAVAILABLE,
  waiting,
} from '../support/bet-scene.ts';

const settling = (scene: Scene = {}) => betScene('settle', scene);
const busyWith = (operation: 'place' | 'settle'): Bet => ({
  ...PLACED,
  busy: { operation, attemptId: 'first', lapsed: false },
});
const AS_BEFORE = {
  answer: accepted(TRANSACTION, THEN),
  outcome: 'duplicate',
  operatorId: 'alpha',
};

describe('a settle that the journal answers', () => {
  it('gets its success again if the bet is settled like this, without a call (I5)', async () => {
    const scene = settling({ looks: [SETTLED_BET] });
    expect(await settle(scene.callback)).toEqual(AS_BEFORE);
    expect([scene.commits, scene.calls]).toEqual([[], []]);
    const labels = { operator: 'alpha', operation: 'settle', source: 'journal' };
    expect(scene.counted).toEqual([['duplicates', labels]]);
  });

  it('is recorded with that answer: sent again later it must not count as new (I5)', async () => {
    const scene = settling({ looks: [SETTLED_BET], members: { requestId: '"copy"' } });
    await settle(scene.callback);
    expect(scene.bets.recordCopy).toHaveBeenCalledOnce();
  });

  it('gets the recorded answer of its requestId, even when another result is current (I5)', async () => {
    const answer = accepted(TRANSACTION, '2026-01-01T00:00:00.000Z');
    const first: RecordedOperation = {
      ...{ id: '1', operation: 'settle', attemptId: 'a1', requestId: 'r1' },
      body: body({ ...BETS.settle.members, requestId: '"r1"' }),
      ...{ answer, wasSent: true, isConcluded: true, isRefused: false },
    };
    const unsettled: Bet['settlement'] = { kind: 'unsettled', transactionTime: THEN };
    const scene = settling({
      looks: [{ ...SETTLED_BET, settlement: unsettled }],
      ...{ members: { requestId: '"r1"' }, recorded: [first] },
    });
    expect(await settle(scene.callback)).toEqual({ ...AS_BEFORE, answer });
    expect([scene.commits, scene.calls]).toEqual([[], []]);
  });

  it('is a conflict where the bet is rolled back, and is not sent (I6)', async () => {
    const rollback = { kind: 'promised', transactionTime: THEN } as const;
    const scene = settling({ looks: [{ ...PLACED, rollback }] });
    expect(await settle(scene.callback)).toMatchObject({
      answer: failure(5, 'transactionId: the bet is rolled back'),
      outcome: 'conflict',
    });
    expect([scene.commits, scene.calls]).toEqual([[], []]);
  });

  it('is 503 and an alarm where nobody knows whether the bet was debited (I2)', async () => {
    const scene = settling({ looks: [{ ...PLACED, place: { kind: 'unknown' } }] });
    expect(await settle(scene.callback)).toMatchObject({
      answer: UNAVAILABLE,
      outcome: 'unknown',
      detail: { reason: 'place_unknown' },
    });
    expect(scene.logged.map(([level, , name]) => [level, name])).toEqual([
      ['error', 'bet.result_for_unknown_place'],
    ]);
  });
});

describe('a settle while another operation of its bet is on its way', () => {
  it('waits, and gets the success of its copy (I5)', async () => {
    const scene = settling({ looks: [busyWith('settle'), SETTLED_BET] });
    expect(await settle(scene.callback)).toEqual(AS_BEFORE);
    expect(scene.steps).toEqual(['find', 'wait', 'find']);
    expect(scene.counted).toMatchObject([['duplicates', { source: 'in_flight' }]]);
  });

  it('waits, and is sent when the bet is free (I6)', async () => {
    const scene = settling({ looks: [busyWith('place'), PLACED] });
    expect(await settle(scene.callback)).toMatchObject({ outcome: 'accepted' });
    expect(scene.steps.slice(0, 4)).toEqual(['find', 'wait', 'find', 'commit']);
  });

  it('is 503 when its own time ends before, so that the service repeats it (I1)', async () => {
    const scene = settling({ looks: [busyWith('place')], onFailure: 'queue' });
    scene.changes.next.mockResolvedValue(false);
    expect(await settle(scene.callback)).toEqual({
      answer: UNAVAILABLE,
      outcome: 'error',
      operatorId: 'alpha',
      detail: { reason: 'in_flight' },
    });
    expect([scene.commits, scene.calls]).toEqual([[], []]);
  });
});

describe('what may be promised of settles', () => {
  const queueing = (scene: Scene) => settling({ onFailure: 'queue', sent: NO_ANSWER, ...scene });
  it('is a first one, where the operator chose that', async () => {
    const scene = queueing({});
    expect(await settle(scene.callback)).toMatchObject({ outcome: 'taken_over' });
    const not = queueing({ onFailure: 'error' });
    expect(await settle(not.callback)).toMatchObject({ answer: UNAVAILABLE, outcome: 'unknown' });
  });

  it('is also the correction of a pending one, which it replaces, with the present time', async () => {
    const scene = settling({ looks: [{ ...PLACED, deliveries: [waiting()] }] });
    expect(await settle(scene.callback)).toMatchObject({ answer: accepted(TRANSACTION, NOW) });
    expect(scene.commits).toMatchObject([{ delivery: { transactionTime: NOW } }]);
  });
});
