import { describe, expect, it, vi } from 'vitest';
import type { Engine } from '../../src/engine/context.ts';
import { type AnsweredOtherwise, correctAnswer } from '../../src/engine/correction.ts';
import type { Finished } from '../../src/store/bets/outcome.ts';
import { partly } from '../support/partly.ts';

const UNAVAILABLE = { status: 503, body: '{"code":100}' };
const ANSWERED: AnsweredOtherwise = {
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

const finished = async (kind: Finished['kind']) => partly<Finished>({ kind });

describe('an outcome that stands with another answer than was told', () => {
  it('is put right at once, and once (I3)', async () => {
    const { engine, correct, logger } = engineOf();
    await correctAnswer(engine, { ...ANSWERED, promisedTime: 'then' }, finished('stands'));
    expect(correct.mock.calls).toEqual([
      [
        {
          ...{ transactionId: 'bet', attemptId: 'a', status: 503, body: '{"code":100}' },
          ...{ placeAnsweredUnknown: false, rollbackTime: undefined },
        },
      ],
    ]);
    expect([logger.error.mock.calls, logger.warn.mock.calls]).toEqual([[], []]);
  });

  it('says of a place that it is unknown, and of a rollback the time of its promise', async () => {
    const place = engineOf();
    await correctAnswer(place.engine, { ...ANSWERED, operation: 'place' }, finished('stands'));
    expect(place.correct).toHaveBeenCalledWith(
      expect.objectContaining({ placeAnsweredUnknown: true, rollbackTime: undefined }),
    );
    const rollback = engineOf();
    const promised = { ...ANSWERED, operation: 'rollback', promisedTime: 'then' } as const;
    await correctAnswer(rollback.engine, promised, finished('stands'));
    expect(rollback.correct).toHaveBeenCalledWith(
      expect.objectContaining({ placeAnsweredUnknown: false, rollbackTime: 'then' }),
    );
  });

  it.each(['late', 'lost'] as const)(
    'is left alone where it is on record so already (%s)',
    async (kind) => {
      const { engine, correct } = engineOf();
      await correctAnswer(engine, ANSWERED, finished(kind));
      expect(correct).not.toHaveBeenCalled();
    },
  );

  it('ends with an alarm where the fault is our own', async () => {
    const fault = new TypeError('ours');
    const { engine, correct, logger } = engineOf([fault]);
    await correctAnswer(engine, ANSWERED, finished('stands'));
    expect(correct).toHaveBeenCalledOnce();
    const facts = { err: fault, transactionId: 'bet', operation: 'settle' };
    expect(logger.error.mock.calls).toEqual([[facts, 'bet.answer_not_corrected']]);
  });
});
