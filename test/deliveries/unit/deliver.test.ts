import { describe, expect, it, vi } from 'vitest';
import type { Settlement } from '../../../src/domain/bet.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import type { TakenDelivery } from '../../../src/store/deliveries/claim-statements.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import { resultsAmong } from '../../support/recorded-results.ts';
import { ANSWERS, takenOf, tried } from '../support/delivery-scene.ts';

/** One attempt of a delivery, with parts that behave as the test says; other files use the real ones. */

const TOKEN = { token: '"kept"' };
const SEALED = { sealed: Buffer.from('sealed'), tokenHash: Buffer.from('hash') };
const STATE: TakenDelivery['bet'] = FRESH;
const DATABASE = new GatewayError('DATABASE_UNAVAILABLE', 'gone');
const SEVERAL: Settlement = { kind: 'unknown', attempted: { kind: 'several' } };

const json = (text: string | undefined) => JSON.parse(text ?? '');

describe('a delivery is sent', () => {
  it('as the service sent it, in the operator’s terms, by PUT, with its requestId (I9)', async () => {
    const { calls, clock, permit } = await tried(takenOf('settle'));
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      ...{ operation: 'settle', method: 'PUT', transactionId: 'b26153f9', requestId: 'r1' },
    });
    expect(calls[0]?.body).toContain('"amount":12.10');
    expect(json(calls[0]?.body)).toEqual({
      ...{ transactionId: 'b26153f9', userId: 'ann', amount: 12.1, currency: 'USD' },
      ...{ type: 2, resultType: 'won', requestId: 'r1' },
    });
    expect(calls[0]?.maySend).toBe(permit.sending.maySend);
    expect(calls[0]?.deadline.walletMs()).toBe(4_500);
    clock.atMs += 1_000;
    expect(calls[0]?.deadline.walletMs()).toBe(3_500);
  });

  it('under the first request’s id, to a wallet that keys on it (I5)', async () => {
    const first = { ...BETS.settle.members, requestId: '"r0"' };
    const record = (id: string, bytes: Buffer) => ({
      ...{
        id,
        operation: 'settle' as const,
        attemptId: id,
        requestId: undefined,
        answer: undefined,
      },
      ...{ body: bytes, wasSent: true, isConcluded: false, isRefused: false },
    });
    const taken = takenOf('settle');
    const records = [record('7', body(BETS.settle.members)), record('6', body(first))];
    const results = resultsAmong(records);
    const resultsOf = vi.fn(results.resultsOf);
    const { calls } = await tried(taken, {
      ...{ dialect: { stableRequestId: true }, bets: { ...results, resultsOf } },
    });
    expect(resultsOf.mock.calls).toEqual([['b26153f9', '7']]);
    expect(calls[0]?.requestId).toBe('r0');
    expect(json(calls[0]?.body)).toMatchObject({ requestId: 'r0' });
  });

  it('with whether its wallet has accepted a result, which a rollback depends on', async () => {
    const settlement: Settlement = { kind: 'unsettled', transactionTime: 'then' };
    const after = await tried(takenOf('rollback', { bet: { ...STATE, settlement } }));
    const without = await tried(takenOf('rollback'));
    expect([after.calls[0]?.hadResult, without.calls[0]?.hadResult]).toEqual([true, false]);
  });
});

it('is not brought to a wallet that came after it was taken, and spends no attempt (I4)', async () => {
  const { calls, result } = await tried(takenOf('rollback'), { generation: 2 });
  expect(calls).toEqual([]);
  expect(result.after.kind).toBe('unsent');
});

describe('the token that a delivery carries', () => {
  it('is the one its bet was placed with, as it was claimed with the row', async () => {
    const unseal = vi.fn(() => 'of its place');
    const { calls } = await tried(takenOf('rollback', { sealedToken: SEALED }, TOKEN), {
      sessions: { unseal },
    });
    expect(unseal.mock.calls).toEqual([[SEALED]]);
    expect(json(calls[0]?.body)).toMatchObject({ token: 'of its place' });
  });

  it('is there nevertheless for a wallet that always requires it', async () => {
    const { calls } = await tried(takenOf('settle', { sealedToken: SEALED }), {
      ...{ dialect: { alwaysSendToken: true }, sessions: { unseal: () => 'of its place' } },
    });
    expect(json(calls[0]?.body)).toMatchObject({ token: 'of its place' });
  });

  it('holds up nothing: without PostgreSQL nothing is sent and no attempt is spent (I4)', async () => {
    const findKept = () => Promise.reject(DATABASE);
    const { result, calls, after, logger, recorded } = await tried(
      takenOf('rollback', { attempts: 9, isOverdue: true }, TOKEN),
      { sessions: { findKept } },
    );
    expect(calls).toEqual([]);
    expect(after).toEqual({ kind: 'unsent', retryInMs: 0 });
    expect(result.sent).toEqual({
      ...{ kind: 'notSent', reason: 'database' },
      trace: {
        sent: false,
        latencyMs: 0,
        error: 'PostgreSQL did not give what goes with the call',
      },
    });
    expect((await recorded()).counted).toBe(0);
    expect(logger.error).not.toHaveBeenCalled();
    expect(logger.info).not.toHaveBeenCalled();
  });
});

describe('a delivery that cannot be sent', () => {
  it('is a failed attempt, so that poison ends as a dead letter (I4)', async () => {
    const poison = { body: Buffer.from('{') };
    const { result, calls, after, conclusion } = await tried(takenOf('settle', poison));
    expect(calls).toEqual([]);
    expect(result.sent).toMatchObject({
      ...{ kind: 'unknown', fault: 'bad_answer' },
      trace: {
        ...{ sent: false, latencyMs: 0 },
        error: expect.stringMatching(/^it holds no message: \w/),
      },
    });
    expect(after.kind).toBe('pending');
    expect(conclusion).toEqual({ outcome: 'not_sent', answer: undefined, change: {} });
    const last = await tried(takenOf('settle', { ...poison, isOverdue: true }));
    expect(last.after).toEqual({ kind: 'dead' });
  });

  it('is one too if building its request fails, and says so (I4)', async () => {
    const broken = new TypeError('no such thing');
    const { result, calls, after, logger } = await tried(
      takenOf('rollback', { sealedToken: SEALED }, TOKEN),
      {
        sessions: {
          unseal: () => {
            throw broken;
          },
        },
      },
    );
    expect(calls).toEqual([]);
    expect(after.kind).toBe('pending');
    expect(result.sent.trace.error).toBe('it cannot be sent: TypeError: no such thing');
    expect(logger.error.mock.calls).toEqual([
      [{ err: broken, operator: 'alpha', delivery: '70' }, 'delivery.unsendable'],
    ]);
  });
});

describe('a result whose process was lost, at a wallet that pays repeats again,', () => {
  const dialect = { holdUnknownRepeats: true };
  const bet = { ...STATE, settlement: SEVERAL };

  it.each(['settle', 'unsettle'] as const)('is left to a person: a %s (I5)', async (operation) => {
    const { result, calls, after } = await tried(takenOf(operation, { bet }), { dialect });
    expect(calls).toEqual([]);
    expect(after).toEqual({ kind: 'dead' });
    expect(result.sent.trace.error).toBe(
      'the process that sent it was lost, and the wallet would pay a repeat again',
    );
  });

  it('is not sent a second time by itself when it stayed without an answer (I5)', async () => {
    const { after } = await tried(takenOf('settle'), { dialect, sent: ANSWERS.silent });
    expect(after).toEqual({ kind: 'dead' });
  });
});
