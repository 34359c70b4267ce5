import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type SimulatedBonusApi,
  startBonusApi,
} from '../../tools/simulator/bonus-api/bonus-api.ts';
import type { BonusMisbehaviour } from '../../tools/simulator/bonus-api/misbehaviour.ts';
import { createOperator } from '../../tools/simulator/operator.ts';
import { type Deployment, openDeployment } from '../process/support/deployment.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { SERVICE_CID } from './support/bonus-gateway.ts';

const OF_A_PLAYER = 'Jane Doe of Elm Street';

let api: SimulatedBonusApi;
let deployment: Deployment;
beforeAll(async () => {
  api = await startBonusApi({ partners: [{ cid: SERVICE_CID, secrets: [SERVICE_SECRET] }] });
  deployment = await openDeployment({
    gateway: { service: { bonusApiUrl: api.url, bonusTimeoutMs: 2_000 } },
  });
});
afterAll(async () => {
  await deployment.close();
  await api.close();
});

const withMessage = (status: number, code: number): BonusMisbehaviour => ({
  kind: 'status',
  status,
  body: JSON.stringify({ code, message: OF_A_PLAYER }),
});

it('says in the log whose bonus call has a wrong signature, and why the service did not answer one, and nothing of its message (I8)', async () => {
  const replica = await deployment.replica();
  for (const cid of ['alpha-key', 'nobodys-key']) {
    const caller = createOperator({ baseUrl: replica.baseUrl, cid, secret: 'not-the-secret' });
    expect(await caller.bonuses('templates')).toMatchObject({ status: 401 });
    await caller.close();
  }
  const { user: userId } = await deployment.player(replica.baseUrl);
  const alpha = createOperator({
    baseUrl: replica.baseUrl,
    cid: 'alpha-key',
    secret: 'alpha-api-secret-that-is-long-enough',
  });
  const ask = () => alpha.bonuses('player/bonuses', { userId });
  const misbehaving = async (how: BonusMisbehaviour) => {
    api.misbehave('player/bonuses', how, { calls: 1 });
    await ask();
  };
  await misbehaving({ kind: 'status', status: 500 });
  await misbehaving({ kind: 'html' });
  await misbehaving(withMessage(401, 1));
  await misbehaving(withMessage(400, 5));
  await misbehaving({ kind: 'hang' });
  await api.down();
  await ask();
  await alpha.close();
  await replica.process.stop();

  const all = replica.process.lines.filter(({ json }) => json?.msg === 'bonus.handled');
  const strangers = all.slice(0, 2).map(({ json }) => json);
  expect(strangers).toMatchObject([
    { operator: 'alpha', status: 401, ip: '127.0.0.1' },
    { operator: 'unknown', status: 401, ip: '127.0.0.1' },
  ]);
  const handled = all.slice(2);
  expect(handled.map(({ json }) => [json?.outcome, json?.error])).toEqual([
    ['failed', 'HTTP 500: no success'],
    ['failed', 'HTTP 200: its body is no JSON object'],
    ['failed', 'HTTP 401, code 1'],
    ['refused', undefined],
    ['silent', expect.stringContaining('no answer within')],
    ['unavailable', expect.stringContaining('not sent: connection refused')],
  ]);
  for (const { text } of handled) expect(text).not.toContain(OF_A_PLAYER);
});
