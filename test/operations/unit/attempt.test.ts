import { afterEach, describe, expect, it, vi } from 'vitest';
import { inTime, record, SendPermit, tryOnce } from '../../../src/operations/attempt.ts';
import { useTestWaits } from '../../support/test-waits.ts';
import {
  ACCEPTED,
  away,
  BEGUN,
  failing,
  LATE,
  later,
  type Scene,
  sceneOf,
  TOLD,
} from '../support/attempt-scene.ts';

/** The order of the steps, with parts that behave as the test says. */

useTestWaits();

/** Runs everything under way to its end. */
const allTime = () => vi.advanceTimersByTimeAsync(60_000);

describe('an operation on its way to a wallet', () => {
  it('is written, sent, written again, and then may be answered (I3)', async () => {
    const { begin, steps, records, logger, inc } = sceneOf();
    expect(await begin(async () => BEGUN)).toEqual({
      kind: 'attempted',
      sent: ACCEPTED,
      concluded: {
        delivery: { kind: 'none' },
        conclusion: { outcome: 'accepted', answer: undefined, change: {} },
        ...{ answer: TOLD, lateAnswer: LATE, promisedTime: 'promised' },
      },
      committedInTime: true,
    });
    expect(steps).toEqual(['begin', 'call', 'finish 7 accepted', 'changed bet']);
    expect(records).toEqual([
      {
        ...{ startedAtMs: 1_000_000, result: 'accepted', trace: ACCEPTED.trace },
        ...{ error: undefined, answer: TOLD },
      },
    ]);
    expect([logger.error, logger.warn, inc].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  it('is not sent where its intent was not committed (I3)', async () => {
    const { begin, steps } = sceneOf();
    expect(await begin(async () => ({ kind: 'moved' }))).toEqual({ kind: 'moved' });
    expect(steps).toEqual(['begin']);
  });

  it('may no longer be sent five seconds after its lease was asked for (I5)', async () => {
    const { begin, clock, maySend } = sceneOf();
    await begin(async () => {
      clock.atMs += 4_999;
      return BEGUN;
    });
    expect(maySend()).toBe(true);
    clock.atMs += 1;
    expect(maySend()).toBe(false);
  });

  it('is not even begun where there is no time for it (I11)', async () => {
    const { begin, steps } = sceneOf();
    await expect(begin(async () => BEGUN, 0)).rejects.toMatchObject({ name: 'OutOfTime' });
    expect(steps).toEqual([]);
  });
});

describe('an intent that is committed after its caller gave up', () => {
  const NOT_SENT = {
    ...{ startedAtMs: 1_000_000, result: 'database', answer: LATE },
    error: 'the intent was committed too late',
    trace: { sent: false, latencyMs: 0, error: 'the intent was committed too late' },
  };

  it('is never sent, and frees its bet as such, with what the caller was told (I11)', async () => {
    const { begin, steps, records, logger } = sceneOf();
    const attempted = begin(() => later(601, () => BEGUN));
    const told = expect(attempted).rejects.toMatchObject({ name: 'OutOfTime' });
    await vi.advanceTimersByTimeAsync(600);
    await told;
    expect(steps).toEqual(['begin']);
    await vi.advanceTimersByTimeAsync(1);
    expect(steps).toEqual(['begin', 'finish 7 not_sent', 'changed bet']);
    expect(records).toEqual([NOT_SENT]);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('is left to the sweep, with a warning, where it cannot be freed', async () => {
    const { begin, steps, logger } = sceneOf({ finish: async () => failing() });
    const attempted = begin(() => later(700, () => BEGUN));
    const told = expect(attempted).rejects.toMatchObject({ name: 'OutOfTime' });
    await allTime();
    await told;
    expect(steps).toEqual(['begin', 'finish 7 not_sent', 'changed bet']);
    const facts = { err: away, transactionId: 'bet', operation: 'settle' };
    expect(logger.warn.mock.calls).toEqual([[facts, 'bet.late_intent_not_released']]);
  });

  it('is looked for where PostgreSQL failed after the caller gave up', async () => {
    const { begin, steps, operationIdOf } = sceneOf({ looks: ['7'] });
    const attempted = begin(() => later(700, failing));
    const told = expect(attempted).rejects.toMatchObject({ name: 'OutOfTime' });
    await allTime();
    await told;
    expect(operationIdOf).toHaveBeenCalledOnce();
    expect(steps).toEqual(['begin', 'finish 7 not_sent', 'changed bet']);
  });
});

describe('an intent whose commit was not reported', () => {
  it.each<[string, readonly (string | undefined | Error)[], readonly number[]]>([
    ['at once', ['7'], [1]],
    ['after a second', [undefined, '7'], [1, 1, 2]],
    ['after three, past a failure', [away, undefined, '7'], [1, 1, 2, 2, 3]],
    ['after nine', [away, away, away, undefined, '7'], [1, 1, 2, 2, 3, 3, 4, 4, 5]],
  ])('is taken back as never sent: %s (I11)', async (_, looks, asked) => {
    const { begin, attempt, steps, records, operationIdOf, logger } = sceneOf({ looks });
    await expect(begin(async () => failing())).rejects.toBe(away);
    const counted: number[] = [];
    for (const ms of [0, 999, 1, 1_999, 1, 1_999, 1, 3_999, 1].slice(0, asked.length)) {
      await vi.advanceTimersByTimeAsync(ms);
      counted.push(operationIdOf.mock.calls.length);
    }
    expect(counted).toEqual(asked);
    await allTime();
    expect(operationIdOf).toHaveBeenCalledTimes(looks.length);
    expect(operationIdOf.mock.calls[0]).toEqual([attempt]);
    expect(steps).toEqual(['begin', 'finish 7 not_sent', 'changed bet']);
    expect(records).toMatchObject([{ result: 'database', answer: LATE }]);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('is left to the sweep, with a warning, if it cannot be looked up', async () => {
    const { begin, steps, logger } = sceneOf({
      looks: [undefined, undefined, undefined, undefined, away],
    });
    await expect(begin(async () => failing())).rejects.toBe(away);
    await allTime();
    expect(steps).toEqual(['begin']);
    const facts = { err: away, transactionId: 'bet', operation: 'settle' };
    expect(logger.warn.mock.calls).toEqual([[facts, 'bet.late_intent_not_looked_for']]);
  });
});

describe('an outcome', () => {
  /** The attempt alone, as a delivery makes it too, and what was recorded of it. */
  async function recorded(scene: Scene) {
    const parts = sceneOf(scene);
    const { engine, attempt, clock } = parts;
    const tried = await tryOnce(engine, attempt, { operationId: '7' }, new SendPermit(clock));
    const attempted = record(engine, tried);
    await allTime();
    return { ...parts, attempted: await attempted };
  }

  it.each(['late', 'lost'] as const)('that is on record %s may not be told (I3)', async (kind) => {
    const { attempted, steps, correct, logger } = await recorded({
      finish: async () => ({ kind }),
    });
    expect(attempted.committedInTime).toBe(false);
    expect(steps).toEqual(['call', 'finish 7 accepted', 'changed bet']);
    expect([correct, logger.error].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  it('that cannot be written is told otherwise, and put right should it stand (I3)', async () => {
    const { attempted, steps, correct, logger } = await recorded({ finish: async () => failing() });
    expect(attempted).toMatchObject({ sent: ACCEPTED, committedInTime: false });
    expect(steps).toEqual(['call', 'finish 7 accepted', 'changed bet']);
    const facts = { err: away, operator: 'alpha', operation: 'settle', transactionId: 'bet' };
    expect(logger.error.mock.calls).toEqual([[facts, 'bet.outcome_not_recorded']]);
    expect(correct).toHaveBeenCalledWith(
      expect.objectContaining({ transactionId: 'bet', attemptId: 'a', lateAnswer: LATE }),
    );
  });

  it('that is not written when the caller has to be answered is not waited for (I1)', async () => {
    const parts = sceneOf({
      operation: 'rollback',
      finish: () => later(951, () => ({ kind: 'committed' })),
    });
    const { engine, attempt, clock, correct, steps } = parts;
    const tried = await tryOnce(engine, attempt, { operationId: '7' }, new SendPermit(clock));
    const attempted = record(engine, tried);
    await vi.advanceTimersByTimeAsync(949);
    expect(steps).toEqual(['call', 'finish 7 accepted']);
    await vi.advanceTimersByTimeAsync(1);
    expect((await attempted).committedInTime).toBe(false);
    expect(steps.at(-1)).toBe('changed bet');
    expect(correct).not.toHaveBeenCalled();
    // The answer given counts once the write has come through: with the time of the promise.
    await vi.advanceTimersByTimeAsync(2);
    expect(correct.mock.calls).toEqual([
      [expect.objectContaining({ lateAnswer: LATE, promisedTime: 'promised' })],
    ]);
  });

  it('of a delivery is waited for however long it takes, and nobody is told', async () => {
    const { attempted, records } = await recorded({
      isDelivery: true,
      finish: () => later(50_000, () => ({ kind: 'committed' })),
    });
    expect(attempted.committedInTime).toBe(true);
    expect(records).toMatchObject([{ startedAtMs: 1_000_000, answer: undefined }]);
  });
});

describe('what must not begin once time is over', () => {
  const onLate = vi.fn(async (_: string) => undefined);
  afterEach(() => onLate.mockReset());

  it('returns its result within its time, or its failure', async () => {
    expect(await inTime(10, async () => 'done', onLate)).toBe('done');
    await expect(inTime(10, async () => failing(), onLate)).rejects.toBe(away);
    await allTime();
    expect(onLate).not.toHaveBeenCalled();
  });

  it.each([0, -1])('does not begin with %d ms (I11)', async (limitMs) => {
    const work = vi.fn(async () => 'done');
    await expect(inTime(limitMs, work, onLate)).rejects.toMatchObject({ name: 'OutOfTime' });
    expect(work).not.toHaveBeenCalled();
  });
});
