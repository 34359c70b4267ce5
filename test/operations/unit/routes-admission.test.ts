import { describe, expect, it } from 'vitest';
import { failure } from '../../../src/protocol/answers.ts';
import { type Kind, routesScene } from '../support/routes-scene.ts';

/** Which callbacks are read at all, with parts that behave as the test says. */

const KINDS = ['profile', 'balance', 'place', 'settle', 'rollback'] as const;
/** How a callback is counted whose body could not be read, or must not be. */
const labelOf = (kind: Kind) => (kind === 'rollback' ? 'settle' : kind);
const unsigned = { headers: {} };

describe('a callback without the service’s signature', () => {
  it.each(KINDS)('is code 1, on PUT as 401, and its body is not read: %s', async (kind) => {
    const { call, counts, log, intents } = routesScene();
    const { answer, trust } = await call(kind, unsigned);
    const status = labelOf(kind) === 'settle' ? 401 : 400;
    expect(answer).toMatchObject(failure(1, 'Invalid signature', status));
    expect(trust).not.toHaveBeenCalled();
    expect(intents).toEqual([]);
    expect(counts.failures.mock.calls).toEqual([[{ caller: 'service' }]]);
    const labels = { operator: 'unknown', operation: labelOf(kind), outcome: 'unauthorized' };
    expect(counts.callbacks.mock.calls).toEqual([[labels]]);
    expect(log.info.mock.calls).toEqual([
      [
        {
          ...{ ...labels, status, durationMs: 0, transactionId: undefined, requestId: undefined },
          ...{ reason: 'missing', leftOut: 0 },
        },
        'callback.handled',
      ],
    ]);
  });

  it('is counted where it is not logged, and the log says how many were left out', async () => {
    const silent = routesScene({ strangers: undefined });
    await silent.call('place', unsigned);
    expect(silent.counts.callbacks).toHaveBeenCalledOnce();
    expect(silent.log.info).not.toHaveBeenCalled();
    const { call, log } = routesScene({ strangers: 12 });
    await call('place', unsigned);
    expect(log.info.mock.calls[0]?.[0]).toMatchObject({ leftOut: 12, reason: 'missing' });
  });
});

describe('a callback from an address that is not allowed', () => {
  it.each<[string, object]>([
    ['a good one', {}],
    ['none', unsigned],
  ])(
    'is refused with 403 whatever its signature, logged and counted as a stranger’s: %s',
    async (_, wire) => {
      const { call, counts, log, intents, strangers } = routesScene({ isAllowed: false });
      const { answer, trust } = await call('place', wire);
      expect(answer).toMatchObject(failure(9, 'Source address not allowed', 403));
      expect([trust.mock.calls, counts.failures.mock.calls, intents]).toEqual([[], [], []]);
      const labels = { operator: 'unknown', operation: 'place', outcome: 'unauthorized' };
      expect(counts.callbacks.mock.calls).toEqual([[labels]]);
      expect(log.info.mock.calls[0]?.[0]).toMatchObject({ ...labels, status: 403, leftOut: 0 });
      expect(strangers).toHaveBeenCalledOnce();
    },
  );
});

describe('a callback of the service that cannot be read', () => {
  it.each<[Kind, string]>([
    ['profile', 'token: '],
    ['balance', 'token: '],
    ['place', 'type: '],
    ['settle', 'type: '],
    ['rollback', 'type: '],
  ])('is code 5 with the member’s name, and is logged: %s', async (kind, beginning) => {
    const { call, counts, log, strangers } = routesScene();
    const { answer, trust } = await call(kind, { body: Buffer.from('{}') });
    expect(answer.status).toBe(400);
    const { code, message } = JSON.parse(answer.body);
    expect(code).toBe(5);
    expect(message.startsWith(beginning) && message.length > beginning.length).toBe(true);
    const labels = { operator: 'unknown', operation: labelOf(kind), outcome: 'invalid' };
    expect(counts.callbacks.mock.calls).toEqual([[labels]]);
    expect(log.info.mock.calls[0]?.[0]).toMatchObject({ ...labels, status: 400, code: 5 });
    expect(trust).toHaveBeenCalledOnce();
    expect(strangers).not.toHaveBeenCalled();
  });

  it('is read by its method: the bytes of a place are none by PUT, nor those of a settle by POST', async () => {
    const { call } = routesScene();
    const settle = Buffer.from('{"type":2}');
    const posted = await call('place', { body: settle });
    expect(JSON.parse(posted.answer.body).message).toBe('type: must be 1 with POST');
    const put = await call('settle', { body: Buffer.from('{"type":4}') });
    expect(JSON.parse(put.answer.body).message).toBe('type: must be 1, 2, 3 or 5 with PUT');
  });
});
