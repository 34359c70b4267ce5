import { describe, expect, it } from 'vitest';
import { balance } from '../../../src/operations/balance.ts';
import { parseBalance } from '../../../src/protocol/messages.ts';
import { body, message } from '../../protocol/support/bet-messages.ts';
import {
  answered,
  BROKEN,
  DATALESS,
  MAINTENANCE,
  OVER,
  readScene,
  tokenRefused,
} from '../support/read-scene.ts';

/** The rules, with parts that behave as the test says; other files test them over HTTP. */

const MEMBERS = { token: '"token"', userId: '"1999"', currency: '"USD"' };

async function asked(
  scene: Parameters<typeof readScene>[0] = {},
  changes: Readonly<Record<string, string>> = {},
) {
  const parts = readScene(scene);
  const read = message(parseBalance(body({ ...MEMBERS, ...changes })));
  return { ...parts, handled: await balance(parts.callbacks, read, parts.deadline) };
}

describe('a balance', () => {
  it('is the wallet’s own words, with the player as the service knows him (I9)', async () => {
    const { handled, find, note } = await asked({
      answer: answered('{"userId":"ann","amount":12.50,"currency":"USD","odd":[1.0]}'),
    });
    expect(handled).toEqual({
      answer: {
        status: 200,
        body: '{"userId":"1999","amount":12.50,"currency":"USD","odd":[1.0]}',
      },
      ...{ outcome: 'accepted', operatorId: 'alpha', detail: { walletMs: 7 } },
    });
    expect(find.mock.calls).toEqual([['token']]);
    expect(note.mock.calls).toEqual([['balance', 'token', 'alpha']]);
  });

  it('gets what it lacks behind the wallet’s own words', async () => {
    const { handled, repaired } = await asked({ answer: answered('{"amount":12.50}') });
    expect(handled.answer.body).toBe('{"amount":12.50,"userId":"1999","currency":"USD"}');
    expect(repaired.mock.calls).toEqual([['alpha', ['userId', 'currency']]]);
  });

  it('in another currency than requested is a broken answer', async () => {
    const { handled } = await asked({ answer: answered('{"amount":1,"currency":"usd"}') });
    expect(handled).toEqual(BROKEN);
  });

  it('is asked for in the operator’s terms, by the service’s own request (I9)', async () => {
    const { calls, deadline } = await asked({}, { requestId: '"r1"', odd: '1.50' });
    expect(calls).toEqual([
      {
        ...{ operation: 'balance', requestId: 'r1', deadline, whyBroken: expect.any(Function) },
        body: '{"token":"token-of-alpha","userId":"ann","currency":"USD","requestId":"r1","odd":1.50}',
      },
    ]);
    expect((await asked()).calls[0]?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each(OVER)('is refused by a token that %s', async (_, lookup, code, operatorId) => {
    const { handled, calls } = await asked({ lookup });
    expect(handled).toEqual(tokenRefused(code, operatorId));
    expect(calls).toEqual([]);
  });

  it('is refused without a look at its session while refusals come in floods (I7)', async () => {
    const limited = { answer: { status: 503, body: '' }, outcome: 'not_sent' } as const;
    const { handled, find, limit } = await asked({ limited: { ...limited, operatorId: 'alpha' } });
    expect(handled).toEqual({ ...limited, operatorId: 'alpha' });
    expect(limit.mock.calls).toEqual([['balance', 'token']]);
    expect(find).not.toHaveBeenCalled();
  });

  it('is 503 and counted where the operator’s file is gone, and remembered as such', async () => {
    const { handled, rejected, note } = await asked({ hasNoWallet: true });
    expect(handled).toEqual(MAINTENANCE);
    expect(rejected.mock.calls).toEqual([[{ operator: 'alpha', reason: 'maintenance' }]]);
    expect(note).toHaveBeenCalledOnce();
  });

  it.each(DATALESS)('that was %s says so', async (_, answer, expected) => {
    expect((await asked({ answer })).handled).toEqual(expected);
  });
});
