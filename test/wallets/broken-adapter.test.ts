import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import type { BetOperation } from '../../src/domain/operation.ts';
import type { BetAnswer } from '../../src/domain/wallet-answer.ts';
import type { BetVerdict } from '../../src/wallets/adapters/adapter.ts';
import { healthOf } from '../../src/wallets/health.ts';
import { betAnswer, callOnce } from '../../src/wallets/wallet-exchange.ts';
import { client, closeOpened, opened, post } from '../outbound/support/client.ts';
import { deadlineIn } from './support/calls.ts';
import { reply, startRawWallet } from './support/raw-wallet.ts';

afterEach(closeOpened);

const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

/**
 * Calls a wallet that answers, through an adapter that returns whatever `verdict` evaluates to. It is text, so that
 * no type restricts it.
 */
async function ask(
  options: { verdict?: string; operation?: BetOperation; request?: typeof post } = {},
) {
  const { verdict = '', operation = 'place', request = post } = options;
  const server = await startRawWallet(({ socket }) => reply(socket, 200, '{}'));
  opened.push(server);
  const told: unknown[] = [];
  const permit = { deadline: deadlineIn(3000), maySend: () => true };
  const answer: BetAnswer = await callOnce(client(server.origin), systemClock, permit, {
    request: () => request(),
    answer: (_response, trace) => {
      const made: BetVerdict = JSON.parse(verdict);
      return betAnswer(operation, made, AT_MS, trace);
    },
    onBrokenAdapter: (error) => told.push(error),
  });
  return { answer, told, sent: server.requests.length };
}

describe('an adapter that is broken', () => {
  it('and makes no request has certainly sent nothing, which says nothing against the wallet (I2)', async () => {
    const bug = new Error('bug');
    const { answer, told, sent } = await ask({
      request: () => {
        throw bug;
      },
    });
    expect(answer).toMatchObject({
      kind: 'notSent',
      reason: 'connection',
      trace: { sent: false, error: 'the adapter could not make the request' },
    });
    expect([told, sent, healthOf(answer)]).toEqual([[bug], 0, 'neutral']);
  });

  it.each([
    'null',
    '{}',
    '{"kind":"ok"}',
    '{"kind":"declined","code":"7","message":"m"}',
    '{"kind":"declined","code":7.5,"message":"m"}',
    '{"kind":"declined","code":1e12,"message":"m"}',
    '{"kind":"declined","code":7}',
    '{"kind":"unknown"}',
    '{"kind":"unknown","fault":"bad_answer","error":"e","code":7.5}',
  ])(
    'and returns %s as a verdict leaves the outcome unknown, and is reported (I2)',
    async (verdict) => {
      const { answer, told } = await ask({ verdict });
      expect(answer).toMatchObject({
        kind: 'unknown',
        fault: 'bad_answer',
        trace: { error: expect.stringContaining('the adapter failed: TypeError') },
      });
      expect(told).toHaveLength(1);
    },
  );

  it.each([8, 10, 100])('and declines a place with %i does not decline it (I2)', async (code) => {
    const verdict = JSON.stringify({ kind: 'declined', code, message: 'm' });
    const place = await ask({ verdict });
    expect(place.answer).toMatchObject({
      kind: 'unknown',
      trace: { code, error: `code ${code} leaves open whether the bet was debited` },
    });
    const { answer } = await ask({ verdict, operation: 'settle' });
    expect(answer).toMatchObject({ kind: 'declined', code });
  });
});
