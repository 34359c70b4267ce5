import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** `service.allowedIps` behind `service.trustProxy`; the tests themselves call from loopback. */
describe('a callback from an address', () => {
  let gateway: TestGateway;
  let profileBody: object;
  beforeAll(async () => {
    gateway = await startTestGateway({
      gateway: {
        service: { allowedIps: ['10.1.0.0/16', '2001:db8::/32'], trustProxy: ['127.0.0.0/8'] },
      },
    });
    const { token } = await gateway.player();
    profileBody = { token, requestId: 'a-request-of-theirs' };
  });
  afterAll(() => gateway.close());

  const from = (forwardedFor: string | undefined, body: object = profileBody, signWith?: string) =>
    gateway.service.call('POST', '/user/profile', body, {
      ...(signWith !== undefined && { signWith }),
      ...(forwardedFor !== undefined && { headers: { 'x-forwarded-for': forwardedFor } }),
    });

  it.each([
    '10.1.2.3',
    '10.1.255.255',
    '2001:db8::7',
    '8.8.8.8, 10.1.2.3',
    // Some proxies write it like this.
    '10.1.2.3:51234',
    '[2001:db8::7]:51234',
    '[2001:db8::7]',
    '8.8.8.8, 10.1.2.3:443',
  ])('in an allowed network is served: %s', async (address) => {
    expect((await from(address)).status).toBe(200);
  });

  it.each([
    undefined,
    '10.2.0.1',
    '10.2.0.1:80',
    '2001:db9::1',
    '[2001:db9::1]:80',
    '10.1.2.3, 8.8.8.8',
    'no address',
    '10.1.2.3.4',
    '10.1.2.3:x',
    '[]:80',
  ])('not allowed is 403, whatever it claims to come from: %s', async (address) => {
    const before = gateway.wallet('alpha').requests.length;
    const answer = await from(address);
    expect(answer.status).toBe(403);
    expect(gateway.wallet('alpha').requests).toHaveLength(before);
  });

  it('not allowed is 403 before its signature or body is looked at', async () => {
    expect((await from('10.2.0.1', {}, 'another-secret')).status).toBe(403);
    expect((await from('10.1.2.3', {}, 'another-secret')).json?.code).toBe(1);
  });

  it('is counted as unauthorized', async () => {
    const labels = { operation: 'profile', outcome: 'unauthorized' };
    const before = await gateway.metric('gateway_callbacks_total', labels);
    await from('10.2.0.1');
    expect(await gateway.metric('gateway_callbacks_total', labels)).toBe(before + 1);
  });

  it('of an operator is not checked: the list is the service’s', async () => {
    expect((await gateway.operator('alpha').bet('no-such-bet')).status).toBe(404);
  });
});
