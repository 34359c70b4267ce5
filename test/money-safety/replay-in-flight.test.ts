import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { settleBody } from '../../src/protocol/callback-bodies.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet } from './support/bets.ts';
import { QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ gateway: QUICK });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const put = (body: string) => gateway.service.call('PUT', '/payment/bet', body);

/** A result returns and gets no answer, while the bytes of its first time are sent once more. */
const FAULT = { kind: 'status', status: 500 } as const;

describe('a replay while the same result, sent again, is at the wallet', () => {
  it('has its own answer, although the new one gets none', async () => {
    const bet = await acceptedBet(gateway);
    const captured = settleBody(bet.slip, { amount: '100', resultType: 'won', token: undefined });
    const first = await put(captured);
    expect(first.status).toBe(200);
    expect((await bet.settle('0', 'lost')).status).toBe(200);
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', FAULT, { transactionId, calls: 1 });
    const gate = bet.wallet.hold('settle', { transactionId });
    const anew = bet.settle('100');
    await gate.arrived;
    const replayed = put(captured);
    // Whether it waits or not, its answer must not depend on how the other one ends.
    await Promise.race([replayed, bet.isWaitedFor()]);
    gate.release();
    expect((await anew).status).toBe(503);
    expect([(await replayed).status, (await replayed).body]).toEqual([200, first.body]);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'settle', 'settle']);
  });
});
