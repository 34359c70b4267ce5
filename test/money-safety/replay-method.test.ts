import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody, settleBody, unsettleBody } from '../../src/protocol/callback-bodies.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet } from './support/bets.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ gateway: QUICK, operators: { alpha: PATIENT } });
});
afterAll(() => gateway.close());

const put = (body: string): Promise<CallResult> =>
  gateway.service.call('PUT', '/payment/bet', body);

describe('replay: the method is not signed (I10)', { timeout: 60_000 }, () => {
  it('a captured place sent by PUT is no unsettle: refused with 5, not sent, counted', async () => {
    const bet = await acceptedBet(gateway);
    const conflicts = () => gateway.metric('gateway_conflicts_total', { operator: 'alpha' });
    const captured = placeBody(bet.slip);
    const other = gateway.service.slip({ ...bet.player, amount: '10' });
    const placed = placeBody(other);
    expect((await gateway.service.call('POST', '/payment/bet', placed)).status).toBe(200);
    const settle = settleBody(other, { amount: '40', resultType: 'won', token: undefined });
    expect((await put(settle)).status).toBe(200);
    const before = await conflicts();
    const balance = bet.balance();
    const answer = await put(placed);
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(bet.balance()).toBe(balance);
    const arrivals = bet.wallet.arrivals(other.transactionId).map(({ operation }) => operation);
    expect(arrivals).toEqual(['place', 'settle']);
    expect(await conflicts()).toBe(before + 1);
    // An unsettle that looks like a place is still an unsettle: the service's requestId is new.
    expect((await put(captured)).status).toBe(200);
  });

  it('also before anything has settled the bet', async () => {
    const bet = await acceptedBet(gateway);
    const placed = placeBody(bet.slip, { requestId: '"captured"' });
    const twin = await gateway.service.call('POST', '/payment/bet', placed);
    expect(twin.status).toBe(200);
    const own = gateway.service.slip({ ...bet.player, amount: '10' });
    const body = placeBody(own);
    expect((await gateway.service.call('POST', '/payment/bet', body)).status).toBe(200);
    const answer = await put(body);
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(bet.wallet.arrivals(own.transactionId)).toHaveLength(1);
  });

  it('also of one whose requestId cannot be on record: it is known by its bytes', async () => {
    const bet = await acceptedBet(gateway);
    const own = gateway.service.slip({ ...bet.player, amount: '10' });
    // Not sendable in a header, so it counts as none.
    const unrecorded = { requestId: '"d\u00e9j\u00e0"' };
    const placed = placeBody(own, unrecorded);
    const contradicting = placeBody({ ...own, amount: '11' }, unrecorded);
    expect((await gateway.service.call('POST', '/payment/bet', placed)).status).toBe(200);
    for (const _ of ['first', 'again']) {
      const refused = await gateway.service.call('POST', '/payment/bet', contradicting);
      expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    }
    const settle = settleBody(own, { amount: '40', resultType: 'won', token: undefined });
    expect((await put(settle)).status).toBe(200);
    for (const captured of [placed, contradicting]) {
      const answer = await put(captured);
      expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    }
    expect(bet.wallet.arrivals(own.transactionId)).toHaveLength(2);
    const unsettle = unsettleBody(own, '40', unrecorded);
    expect((await put(unsettle)).status).toBe(200);
  });

  it.each([
    ['also of a copy that came under a requestId of its own', '100', 200],
    ['also of one that contradicts its bet', '11', 400],
  ])('%s', async (_, amount, status) => {
    const bet = await acceptedBet(gateway);
    expect((await bet.settle('50')).status).toBe(200);
    const copy = placeBody({ ...bet.slip, amount });
    expect((await gateway.service.call('POST', '/payment/bet', copy)).status).toBe(status);
    const answer = await put(copy);
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(bet.balance()).toBe('950');
    expect(bet.arrivals()).toEqual(['place', 'settle']);
  });
});
