import { expect, it, vi } from 'vitest';
import { Deadline } from '../../src/domain/deadline.ts';
import type { Engine } from '../../src/operations/engine.ts';
import { finishBet, type WithDelivery } from '../../src/operations/finish-bet.ts';
import { failure } from '../../src/protocol/answers.ts';
import type { AttemptRecord } from '../../src/store/bets/attempt-record.ts';
import { partly } from '../support/partly.ts';
import { TestClock } from '../support/test-clock.ts';

const UNAVAILABLE = failure(100, 'System error', 503);
const LIMIT = new Date(8_000);
const ATTEMPT = partly<AttemptRecord>({ result: 'accepted' });
const KEY = { transactionId: 'b26153f9', attemptId: 'a', operatorId: 'alpha' };
const DELIVERY = { kind: 'none' } as const;
const CONCLUDED = partly<WithDelivery>({
  conclusion: { outcome: 'accepted', change: { stands: true } },
  ...{ delivery: DELIVERY, lateAnswer: UNAVAILABLE, answer: failure(1, 'told') },
});

async function finished(deadline: Deadline | undefined) {
  const finish = vi.fn(async (_: unknown) => ({ kind: 'committed' }));
  const limitOf = vi.fn(async (_: Deadline) => LIMIT);
  const alpha = { delivery: { confirmUnknownAfterMs: 77_000 } };
  const engine = partly<Engine>({
    bets: { finish, limitOf },
    configuration: () => ({ operators: new Map([['alpha', alpha]]) }),
  });
  const result = await finishBet(engine, { ...KEY, deadline })('7', CONCLUDED, ATTEMPT);
  expect(result).toEqual({ kind: 'committed' });
  return { written: finish.mock.calls, limited: limitOf.mock.calls };
}

const outcome = (caller: object | undefined) => ({
  ...{ transactionId: 'b26153f9', attemptId: 'a', operationId: '7', attempt: ATTEMPT },
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
