import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import { failure } from '../../../src/protocol/answers.ts';
import { useTestWaits } from '../../support/test-waits.ts';
import { ID, type Kind, routesScene, SUCCESS } from '../support/routes-scene.ts';

/** From a callback's bytes to its answer, with parts that behave as the test says. */

useTestWaits();

const KINDS = ['profile', 'balance', 'place', 'settle', 'unsettle', 'rollback', 'update'] as const;
const READS: readonly Kind[] = ['profile', 'balance'];
const UNAVAILABLE = failure(100, 'System error', 503);
const away = new GatewayError('DATABASE_UNAVAILABLE', 'away');
const never = () => new Promise<never>(() => undefined);

describe('a callback', () => {
  it.each<[Kind, string, string]>([
    [
      'profile',
      'accepted',
      '{"userId":"1999","currency":"USD","currencies":["USD"],"customFields":{"operatorUser":"ann"}}',
    ],
    ['balance', 'accepted', '{"userId":"1999","currency":"USD","currencies":["USD"]}'],
    ['place', 'accepted', SUCCESS.body],
    ['settle', 'duplicate', SUCCESS.body],
    ['unsettle', 'duplicate', SUCCESS.body],
    ['rollback', 'duplicate', SUCCESS.body],
    ['update', 'duplicate', SUCCESS.body],
  ])('is answered by its own story, counted and logged: %s', async (kind, outcome, text) => {
    const { call, counts, log } = routesScene();
    const { answer, trust, told } = await call(kind, {
      members: { requestId: '"r1"' },
      spentMs: 1,
    });
    expect(answer).toEqual({ status: 200, body: text });
    expect(trust).toHaveBeenCalledOnce();
    expect(told).toHaveBeenCalledOnce();
    const labels = { operator: 'alpha', operation: kind };
    expect(counts.callbacks.mock.calls).toEqual([[{ ...labels, outcome }]]);
    expect(log.info.mock.calls).toEqual([
      [
        expect.objectContaining({
          ...{ ...labels, outcome, status: 200, requestId: 'r1' },
          transactionId: READS.includes(kind) ? undefined : ID,
        }),
        'callback.handled',
      ],
    ]);
    expect([log.warn, log.error].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });

  it('is kept with the hash of its token alone', async () => {
    const { call, intents } = routesScene();
    await call('place');
    expect(JSON.parse(String(intents[0]?.body)).token).toBe('hash of 5caa4cabce');
  });
});

describe('the log of reads', () => {
  it.each(['profile', 'balance'] as const)('leaves out good ones if told to: %s', async (kind) => {
    const { call, counts, log } = routesScene({ logsRead: false });
    await call(kind);
    expect(log.info).not.toHaveBeenCalled();
    expect(counts.callbacks).toHaveBeenCalledOnce();
  });

  it('has every read that failed, and every bet', async () => {
    const findSession = async () => ({ kind: 'unknown' }) as const;
    const unknown = routesScene({ logsRead: false, findSession });
    for (const kind of ['profile', 'balance'] as const) await unknown.call(kind);
    expect(unknown.log.info).toHaveBeenCalledTimes(2);
    const { call, log, logsRead } = routesScene({ logsRead: false });
    for (const kind of ['place', 'settle'] as const) await call(kind);
    expect(log.info).toHaveBeenCalledTimes(2);
    expect(logsRead).not.toHaveBeenCalled();
  });
});

describe('a callback whose story does not end', () => {
  it.each(KINDS)(
    'is answered the safe way 25 ms before its time is over (I1, I2): %s',
    async (kind) => {
      const { begin, log, counts } = routesScene({ findSession: never, find: never });
      const { handled, answer, told } = begin(kind, { spentMs: 100 });
      await vi.advanceTimersByTimeAsync(874);
      expect(told).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      await handled;
      expect(answer).toMatchObject(kind === 'place' ? failure(100, 'System error') : UNAVAILABLE);
      const labels = { operator: 'unknown', operation: kind, outcome: 'error' };
      expect(counts.callbacks.mock.calls).toEqual([[labels]]);
      const facts = {
        err: expect.objectContaining({ name: 'OutOfTime', message: 'gave up after 875 ms' }),
        ...{ operation: kind, transactionId: READS.includes(kind) ? undefined : ID },
      };
      expect(log.warn.mock.calls).toEqual([[facts, 'callback.failed']]);
      expect(log.error).not.toHaveBeenCalled();
    },
  );
});

describe('a callback that fails', () => {
  it.each(KINDS)(
    'with PostgreSQL is answered the safe way, with a warning (I2): %s',
    async (kind) => {
      const failing = () => Promise.reject(away);
      const { call, log } = routesScene({ findSession: failing, find: failing });
      const { answer } = await call(kind);
      expect(answer).toMatchObject(kind === 'place' ? failure(100, 'System error') : UNAVAILABLE);
      const facts = {
        ...{ err: away, operation: kind },
        transactionId: READS.includes(kind) ? undefined : ID,
      };
      expect(log.warn.mock.calls).toEqual([[facts, 'callback.failed']]);
    },
  );

  it('through our own fault gets the safe answer, and an alert', async () => {
    const fault = new TypeError('ours');
    const { call, log } = routesScene({ findSession: () => Promise.reject(fault) });
    const { answer } = await call('place');
    expect(answer).toMatchObject(failure(100, 'System error'));
    const facts = { err: fault, operation: 'place', transactionId: ID };
    expect(log.error.mock.calls).toEqual([[facts, 'callback.failed']]);
    expect(log.warn).not.toHaveBeenCalled();
  });

  it('as a copy of a place is answered as Redis remembers it (I3)', async () => {
    const content = { userId: '1999', amount: '12.1', currency: 'USD', operatorId: 'alpha' };
    const { call, log } = routesScene({
      findSession: () => Promise.reject(away),
      remembered: { ...content, ...SUCCESS },
    });
    expect((await call('place')).answer).toMatchObject(SUCCESS);
    expect(log.warn).not.toHaveBeenCalled();
  });
});

describe('a caller who was answered, or has hung up', () => {
  it('has nothing begun, promised or sent any more (I11)', async () => {
    const { begin, ends } = routesScene({ begin: never });
    const { handled, hangUp } = begin('place');
    await vi.advanceTimersByTimeAsync(0);
    expect(ends.map((hasEnded) => hasEnded())).toEqual([false]);
    hangUp();
    expect(ends.map((hasEnded) => hasEnded())).toEqual([true]);
    await vi.advanceTimersByTimeAsync(1_000);
    await handled;
  });
});

describe('the span of a callback', () => {
  it('continues its caller’s trace from its arrival, and is named in the log', async () => {
    const { begin, spans, span, log } = routesScene({ isTraced: true });
    const { handled, request } = begin('place', { members: { requestId: '"r1"' }, spentMs: 40 });
    await handled;
    expect(spans).toEqual([
      {
        ...{ name: 'callback place', kind: 'server', beganMsAgo: 40, caller: request.headers },
        facts: { operation: 'place', transactionId: ID, requestId: 'r1' },
      },
    ]);
    const facts = { operator: 'alpha', outcome: 'accepted', status: 200 };
    expect(span.set.mock.calls).toEqual([[facts]]);
    expect(span.fail).not.toHaveBeenCalled();
    expect(log.info.mock.calls[0]?.[0]).toMatchObject({ traceId: 'the-trace', walletMs: 12 });
  });
});
