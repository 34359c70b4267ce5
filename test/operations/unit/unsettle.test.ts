import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { unsettle } from '../../../src/operations/unsettle.ts';
import { accepted } from '../../../src/protocol/answers.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import {
  betScene,
  NO_ANSWER,
  NOW,
  PLACED,
  PLAYER,
  type Scene,
  SETTLED_BET,
  THEN,
  TRANSACTION,
  UNAVAILABLE,
  waiting,
} from '../support/bet-scene.ts';

const UNSETTLED: Bet = { ...SETTLED_BET, settlement: { kind: 'unsettled', transactionTime: THEN } };
const AS_BEFORE = {
  answer: accepted(TRANSACTION, THEN),
  outcome: 'duplicate',
  operatorId: 'alpha',
};
const unsettling = (scene: Scene = {}) => betScene('unsettle', { looks: [SETTLED_BET], ...scene });

describe('an unsettle', () => {
  it('is sent to the wallet, even for a bet that was never settled', async () => {
    for (const looks of [[SETTLED_BET], [PLACED]]) {
      const scene = unsettling({ looks });
      expect(await unsettle(scene.callback)).toMatchObject({ outcome: 'accepted' });
      expect(scene.calls).toMatchObject([{ operation: 'unsettle' }]);
    }
  });

  it('gets its success again if the bet is unsettled, recorded as a copy (I5)', async () => {
    const scene = unsettling({ looks: [UNSETTLED], members: { requestId: '"copy"' } });
    expect(await unsettle(scene.callback)).toEqual(AS_BEFORE);
    expect([scene.commits, scene.calls]).toEqual([[], []]);
    expect(scene.bets.recordCopy).toHaveBeenCalledOnce();
  });

  it('gets the recorded answer of its requestId, even when the bet is settled again (I5)', async () => {
    const answer = accepted(TRANSACTION, '2026-01-01T00:00:00.000Z');
    const first: RecordedOperation = {
      ...{ id: '1', operation: 'unsettle', attemptId: 'a1', requestId: 'r1' },
      body: body({ ...BETS.unsettle.members, requestId: '"r1"' }),
      ...{ answer, wasSent: true, isConcluded: true, isRefused: false },
    };
    const scene = unsettling({ members: { requestId: '"r1"' }, recorded: [first] });
    expect(await unsettle(scene.callback)).toEqual({ ...AS_BEFORE, answer });
    expect(scene.calls).toEqual([]);
  });

  it('is a conflict where the bet is another player’s, or rolled back (I6, I10)', async () => {
    const rollback = { kind: 'promised', transactionTime: THEN } as const;
    const others = { ...PLACED, owner: { ...PLAYER, userId: 'another' } };
    for (const look of [others, { ...PLACED, rollback }]) {
      const scene = unsettling({ looks: [look] });
      expect(await unsettle(scene.callback)).toMatchObject({ outcome: 'conflict' });
      expect([scene.commits, scene.calls]).toEqual([[], []]);
    }
  });

  it('is never promised where it got no answer: 503, the service repeats it', async () => {
    const scene = unsettling({ looks: [PLACED], sent: NO_ANSWER, onFailure: 'queue' });
    expect(await unsettle(scene.callback)).toMatchObject({
      answer: UNAVAILABLE,
      outcome: 'unknown',
    });
    expect(scene.outcomes).toMatchObject([{ delivery: { kind: 'none' } }]);
  });

  it('waits as a promise behind what a wallet may have seen (I6)', async () => {
    const looks = [{ ...PLACED, deliveries: [waiting({ attempts: 1 })] }];
    const scene = unsettling({ looks });
    expect(await unsettle(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'taken_over',
    });
    expect(scene.commits).toMatchObject([{ delivery: { operation: 'unsettle' }, supersedes: [] }]);
  });

  it('replaces a settle that no wallet has seen, and is sent if a wallet may hold another', async () => {
    const scene = unsettling({ looks: [{ ...SETTLED_BET, deliveries: [waiting()] }] });
    expect(await unsettle(scene.callback)).toMatchObject({ outcome: 'taken_over' });
    expect(scene.commits).toMatchObject([
      { delivery: { operation: 'unsettle' }, supersedes: ['9'] },
    ]);
  });
});
