import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { rollback } from '../../../src/operations/rollback.ts';
import { accepted, failure } from '../../../src/protocol/answers.ts';
import {
  betScene,
  NO_ANSWER,
  NOW,
  PLACED,
  PLAYER,
  type Scene,
  STORED,
  THEN,
  TRANSACTION,
  waiting,
} from '../support/bet-scene.ts';

const rollingBack = (scene: Scene = {}) => betScene('rollback', scene);
const busyWith = (operation: 'place' | 'rollback'): Bet => ({
  ...PLACED,
  busy: { operation, attemptId: 'first', lapsed: false },
});

describe('a rollback', () => {
  it('fences its bet before it writes anything: no copy of the place is answered from Redis (I6)', async () => {
    const scene = rollingBack();
    const fenced = Promise.withResolvers<undefined>();
    scene.fence.mockImplementationOnce(() => fenced.promise);
    const rolledBack = rollback(scene.callback);
    await new Promise(setImmediate);
    expect(scene.steps).toEqual(['find']);
    expect(scene.commits).toEqual([]);
    fenced.resolve(undefined);
    await rolledBack;
    expect(scene.commits).toHaveLength(1);
    expect(scene.fence.mock.calls).toEqual([[TRANSACTION]]);
  });

  it('is never forgotten: what a wallet does not confirm is promised (I4)', async () => {
    const scene = rollingBack({ sent: NO_ANSWER });
    expect(await rollback(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'taken_over',
    });
  });

  it('cancels pending results that no wallet has seen, in the same write (I6)', async () => {
    const scene = rollingBack({ looks: [{ ...PLACED, deliveries: [waiting()] }] });
    expect(await rollback(scene.callback)).toMatchObject({ outcome: 'accepted' });
    expect(scene.commits).toMatchObject([{ supersedes: ['9'], delivery: { state: 'live' } }]);
  });

  it('waits as a promise behind what a wallet may have seen, and cancels the rest (I6)', async () => {
    const deliveries = [
      waiting({ id: '8', attempts: 1 }),
      waiting({ id: '9', operation: 'update' }),
    ];
    const scene = rollingBack({ looks: [{ ...PLACED, deliveries }] });
    expect(await rollback(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'taken_over',
    });
    expect(scene.commits).toMatchObject([
      {
        to: { rollback: { kind: 'promised', transactionTime: NOW } },
        delivery: { state: 'pending', operation: 'rollback' },
        supersedes: ['9'],
      },
    ]);
    expect(scene.calls).toEqual([]);
  });

  it('of a bet that no wallet holds is recorded as done, and no wallet is called', async () => {
    const from: Bet = { ...PLACED, place: { kind: 'notSent' }, deliveries: [waiting()] };
    const scene = rollingBack({ looks: [from] });
    expect(await rollback(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'not_sent',
      operatorId: 'alpha',
    });
    expect(scene.commits).toMatchObject([
      {
        from,
        to: { ...from, rollback: { kind: 'confirmed', transactionTime: NOW } },
        record: { operation: 'rollback', body: STORED, answer: accepted(TRANSACTION, NOW) },
        supersedes: ['9'],
      },
    ]);
    expect([scene.calls, scene.commits[0]?.delivery]).toEqual([[], undefined]);
  });

  it('of an unknown player leaves a tombstone, and is answered 200 (I6)', async () => {
    const scene = rollingBack({ looks: [undefined] });
    expect(await rollback(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'not_sent',
      operatorId: undefined,
    });
    expect(scene.commits).toMatchObject([
      {
        from: { transactionId: TRANSACTION, version: 0, place: { kind: 'unseen' } },
        to: { rollback: { kind: 'confirmed', transactionTime: NOW } },
        supersedes: [],
      },
    ]);
    expect(scene.commits[0]?.from.owner).toBeUndefined();
    expect(scene.calls).toEqual([]);
  });

  it.each([
    ['an unknown bet', undefined],
    [
      'a bet whose player was unknown',
      { ...PLACED, owner: undefined, rollback: { kind: 'confirmed', transactionTime: THEN } },
    ],
  ] as const)(
    'of %s is not sent to the wallet before the one that it was released to (I4)',
    async (_, bet) => {
      const scene = rollingBack({ looks: [bet], player: PLAYER, releasedTo: 2 });
      expect(await rollback(scene.callback)).toMatchObject({ outcome: 'taken_over' });
      expect(scene.calls).toEqual([]);
      const now = rollingBack({ looks: [bet], player: PLAYER, releasedTo: 2, generation: 2 });
      expect(await rollback(now.callback)).toMatchObject({ outcome: 'accepted' });
    },
  );

  it('of another player’s bet is a conflict, and changes nothing (I10)', async () => {
    const looks = [{ ...PLACED, owner: { ...PLAYER, userId: 'another' } }];
    const scene = rollingBack({ looks });
    expect(await rollback(scene.callback)).toMatchObject({
      answer: failure(5, "transactionId: the bet is another player's"),
      outcome: 'conflict',
    });
    expect(scene.commits).toEqual([]);
  });
});

describe('a rollback while another operation of its bet is on its way', () => {
  it('waits for it, and is decided by its result', async () => {
    const scene = rollingBack({ looks: [busyWith('place'), PLACED] });
    expect(await rollback(scene.callback)).toMatchObject({ outcome: 'accepted' });
    expect(scene.steps.slice(1, 5)).toEqual(['find', 'wait', 'find', 'commit']);
  });

  it('is promised behind it when its own time ends (I1, I4)', async () => {
    const from = busyWith('place');
    const scene = rollingBack({ looks: [from] });
    scene.changes.next.mockResolvedValue(false);
    expect(await rollback(scene.callback)).toMatchObject({
      answer: accepted(TRANSACTION, NOW),
      outcome: 'taken_over',
    });
    expect(scene.commits).toMatchObject([
      {
        from,
        to: { ...from, rollback: { kind: 'promised', transactionTime: NOW } },
        delivery: { state: 'pending' },
        supersedes: [],
      },
    ]);
    expect(scene.calls).toEqual([]);
  });

  it('cancels what no wallet has seen also then, but not an update: it may be on its way (I6)', async () => {
    const deliveries = [
      waiting({ id: '7', attempts: 1 }),
      waiting({ id: '8', operation: 'unsettle' }),
      waiting({ id: '9', operation: 'update' }),
    ];
    const scene = rollingBack({ looks: [{ ...busyWith('place'), deliveries }] });
    scene.changes.next.mockResolvedValue(false);
    await rollback(scene.callback);
    expect(scene.commits).toMatchObject([{ supersedes: ['8'], delivery: { state: 'pending' } }]);
  });

  it('gets the promise of its twin that is being tried, when its own time ends (I5)', async () => {
    const promised = { kind: 'promised', transactionTime: THEN } as const;
    const scene = rollingBack({ looks: [{ ...busyWith('rollback'), rollback: promised }] });
    scene.changes.next.mockResolvedValue(false);
    expect(await rollback(scene.callback)).toEqual({
      answer: accepted(TRANSACTION, THEN),
      outcome: 'taken_over',
      operatorId: 'alpha',
      detail: {},
    });
    expect(scene.commits).toEqual([]);
  });
});
