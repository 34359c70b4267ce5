import { afterAll, beforeAll, expect, it } from 'vitest';
import { createService } from '../../tools/simulator/service.ts';
import { type Deployment, openDeployment } from '../process/support/deployment.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await openDeployment({
    gateway: { service: { allowedIps: ['10.1.0.0/16'], trustProxy: ['127.0.0.0/8'] } },
  });
});
afterAll(() => deployment.close());

it('logs the address that was not allowed: it may be a new one of the service, or a proxy’s', async () => {
  const replica = await deployment.replica();
  const service = createService({ baseUrl: replica.baseUrl, secret: SERVICE_SECRET });
  const from = (address: string) =>
    service.call('POST', '/user/balance', {}, { headers: { 'x-forwarded-for': address } });
  await from('10.2.0.1');
  await from('x'.repeat(4_000));
  await service.call('POST', '/user/balance', {});
  await service.close();
  await replica.process.stop();

  const handled = replica.process.lines.filter(({ json }) => json?.msg === 'callback.handled');
  expect(handled.map(({ json }) => [json?.status, json?.ip])).toEqual([
    [403, '10.2.0.1'],
    [403, 'x'.repeat(53)],
    [403, '127.0.0.1'],
  ]);
});
