import { expect, it, vi } from 'vitest';
import { Deadline } from '../../../src/domain/deadline.ts';
import type { BetAnswer } from '../../../src/domain/wallet-answer.ts';
import { type Attempt, type Concluded, record } from '../../../src/operations/attempt.ts';
import type { Engine } from '../../../src/operations/engine.ts';
import { failure } from '../../../src/protocol/answers.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

const UNAVAILABLE = failure(100, 'System error', 503);
const LIMIT = new Date(8_000);
const SENT: BetAnswer = {
  ...{ kind: 'accepted', transactionTime: 'then' },
  trace: { sent: true, latencyMs: 7 },
};
const KEY = { transactionId: 'b26153f9', attemptId: 'a', operatorId: 'alpha' };
const DELIVERY = { kind: 'none' } as const;
const CONCLUDED = partly<Concluded>({
  conclusion: { outcome: 'accepted', change: { stands: true } },
  ...{ delivery: DELIVERY, lateAnswer: UNAVAILABLE, answer: failure(1, 'told') },
});

async function finished(deadline: Deadline | undefined) {
  const finish = vi.fn(async (_: unknown) => ({ kind: 'committed' }));
  const limitOf = vi.fn(async (_: Deadline) => LIMIT);
  const alpha = { delivery: { confirmUnknownAfterMs: 77_000 } };
  const engine = partly<Engine>({
    bets: { finish, limitOf },
    changes: { changed: () => undefined },
    configuration: () => ({ operators: new Map([['alpha', alpha]]) }),
  });
  const attempt = partly<Attempt>({ ...KEY, operation: 'settle', deadline });
  const begun = { operationId: '7' };
  const tried = { attempt, begun, startedAtMs: 5, sent: SENT, concluded: CONCLUDED };
  expect(await record(engine, tried)).toMatchObject({ committedInTime: true });
  return { written: finish.mock.calls, limited: limitOf.mock.calls };
}

const outcome = (caller: object | undefined) => ({
  ...{
    transactionId: 'b26153f9',
    attemptId: 'a',
    operationId: '7',
    bet: undefined,
    attempt: expect.objectContaining({ startedAtMs: 5, result: 'accepted' }),
  },
  ...{ change: { stands: true }, confirmAfterMs: 77_000, delivery: DELIVERY, caller },
});

it('writes an outcome for its waiting caller, with the fate of its delivery (I11)', async () => {
  const deadline = new Deadline(new TestClock(), 1_000, 1_000, 300);
  const { written, limited } = await finished(deadline);
  expect(limited).toEqual([[deadline]]);
  expect(written).toEqual([[outcome({ before: LIMIT, lateAnswer: UNAVAILABLE })]]);
});

it('writes the outcome of a delivery, for which nobody waits, whenever it can', async () => {
  const { written, limited } = await finished(undefined);
  expect(limited).toEqual([]);
  expect(written).toEqual([[outcome(undefined)]]);
});
