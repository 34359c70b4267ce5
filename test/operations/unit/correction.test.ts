import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import { type Corrected, correctAnswer } from '../../../src/operations/correction.ts';
import type { Engine } from '../../../src/operations/engine.ts';
import type { Finished } from '../../../src/store/bets/outcome.ts';
import { partly } from '../../support/partly.ts';
import { useTestWaits } from '../../support/test-waits.ts';

useTestWaits();

const UNAVAILABLE = { status: 503, body: '{"code":100}' };
const ANSWERED: Corrected = {
  ...{ transactionId: 'bet', attemptId: 'a', operation: 'settle', lateAnswer: UNAVAILABLE },
};

function engineOf(answers: readonly (Error | undefined)[] = []) {
  const left = [...answers];
  const correct = vi.fn(async () => {
    const error = left.shift();
    if (error !== undefined) throw error;
  });
  const logger = { error: vi.fn(), warn: vi.fn() };
  return { engine: partly<Engine>({ bets: { correctAnswer: correct }, logger }), correct, logger };
}

/** Corrects the record, and lets all the necessary time pass. */
async function corrected(engine: Engine, answered: Corrected, end: Promise<Finished>) {
  const correcting = correctAnswer(engine, answered, end);
  await vi.advanceTimersByTimeAsync(400_000);
  await correcting;
}

const finished = async (kind: Finished['kind']) => partly<Finished>({ kind });

describe('an outcome that is recorded with another answer than was given', () => {
  it('is put right at once, and once (I3)', async () => {
    const { engine, correct, logger } = engineOf();
    await corrected(engine, { ...ANSWERED, promisedTime: 'then' }, finished('committed'));
    expect(correct.mock.calls).toEqual([[{ ...ANSWERED, promisedTime: 'then' }]]);
    expect([logger.error.mock.calls, logger.warn.mock.calls]).toEqual([[], []]);
  });

  it.each(['late', 'lost'] as const)(
    'is left alone if it is already recorded so (%s)',
    async (kind) => {
      const { engine, correct } = engineOf();
      await corrected(engine, ANSWERED, finished(kind));
      expect(correct).not.toHaveBeenCalled();
    },
  );
});

describe('an outcome of which it is unknown whether it was recorded', () => {
  const away = new GatewayError('DATABASE_UNAVAILABLE', 'away');
  const WAITED = { transactionId: 'bet', operation: 'settle', status: 503 };

  it('is put right whenever it may land, until its statement must have ended (I3)', async () => {
    const { engine, correct, logger } = engineOf();
    const correcting = correctAnswer(engine, ANSWERED, Promise.reject(away));
    const counted: number[] = [];
    for (const ms of [0, 999, 1, 9_999, 1, 59_999, 1, 299_999, 1]) {
      await vi.advanceTimersByTimeAsync(ms);
      counted.push(correct.mock.calls.length);
    }
    expect(counted).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 5]);
    await correcting;
    expect(logger.warn.mock.calls).toEqual([[WAITED, 'bet.answer_correction_ended']]);
    expect(logger.error).not.toHaveBeenCalled();
  });

  it('ends as soon as it is put right where it is known to stand', async () => {
    const { engine, correct, logger } = engineOf([away, away]);
    await corrected(engine, ANSWERED, finished('committed'));
    expect(correct).toHaveBeenCalledTimes(3);
    expect(logger.warn).not.toHaveBeenCalled();
  });

  it('is given up, with a warning, after minutes without PostgreSQL', async () => {
    const { engine, correct, logger } = engineOf([away, away, away, away, away]);
    await corrected(engine, ANSWERED, finished('committed'));
    expect(correct).toHaveBeenCalledTimes(5);
    expect(logger.warn.mock.calls).toEqual([[WAITED, 'bet.answer_correction_ended']]);
  });
});
