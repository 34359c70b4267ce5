import { afterAll, beforeAll, expect, it } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { createService } from '../../tools/simulator/service.ts';
import { type Deployment, openDeployment, type Replica } from '../process/support/deployment.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';

let deployment: Deployment;
let replica: Replica;
beforeAll(async () => {
  deployment = await openDeployment();
  replica = await deployment.replica();
});
afterAll(() => deployment.close());

const PATHS = ['//payment/bet', '/payment/bet/', '/api/payment/bet', '/payment/bet2?a=b'];

async function rejected(): Promise<number> {
  const text = await (await fetch(`${replica.adminUrl}/metrics`)).text();
  const sample = /^gateway_rejected_total\{operator="unknown",reason="path"\} (\d+)$/m.exec(text);
  return Number(sample?.[1] ?? Number.NaN);
}

const linesOf = () =>
  replica.process.lines.filter(({ json }) => json?.msg === 'callback.path_unknown');

it('signed callbacks to a path that is not there are counted, and one a minute is logged', async () => {
  const service = createService({
    baseUrl: replica.baseUrl,
    secret: SERVICE_SECRET,
    retryScale: 0,
  });
  const player = await deployment.player(replica.baseUrl);
  const body = placeBody(service.slip({ ...player, amount: '10' }));
  expect(await rejected()).toBe(0);

  // A stranger's: nobody reads these, and they leave no trace.
  for (const headers of [{}, { 'x-sign-jws': 'a..b' }]) {
    const options = { headers, signWith: null };
    const answer = await service.call('POST', '/a/payment/bet', body, options);
    expect([answer.status, answer.json?.code]).toEqual([404, 2]);
  }
  const long = `/payment/bet/%1b[31m%0a${'x'.repeat(5_000)}`;
  for (const path of [long, ...PATHS]) {
    for (const method of ['POST', 'PUT'] as const) {
      const answer = await service.call(method, path, body);
      expect([answer.status, answer.json?.code]).toEqual([404, 2]);
    }
  }
  await service.close();

  expect(await rejected()).toBe(2 * (PATHS.length + 1));
  await replica.process.stop();
  const [line, ...others] = linesOf();
  expect(others).toEqual([]);
  expect(line?.json).toMatchObject({ method: 'POST' });
  expect(line?.json?.path).toMatch(/^\/payment\/bet\/[\x20-\x7e]+…$/);
  expect(String(line?.json?.path).length).toBeLessThan(220);
});
