import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody } from '../../src/simulator/callback-bodies.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

describe('place bet', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(async () => {
    await gateway.close();
  });

  it('debits the player once and answers a copy from the journal (I5)', async () => {
    const player = await gateway.player({ balance: '100' });
    const body = placeBody(gateway.service.slip({ ...player, amount: '12.10' }));
    const { transactionId } = JSON.parse(body);
    const first = await gateway.service.call('POST', '/payment/bet', body);
    const again = await gateway.service.call('POST', '/payment/bet', body);
    expect(first.status).toBe(200);
    expect(again.body).toBe(first.body);
    expect(gateway.wallet('alpha').arrivals(transactionId)).toHaveLength(1);
    expect(gateway.wallet('alpha').balance(player.user, 'USD')).toBe('87.9');
  });
});
