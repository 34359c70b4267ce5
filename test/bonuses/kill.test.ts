import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type SimulatedBonusApi,
  startBonusApi,
} from '../../tools/simulator/bonus-api/bonus-api.ts';
import { createOperator } from '../../tools/simulator/operator.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { type Deployment, openDeployment } from '../process/support/deployment.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { batchBody, objectOf, SERVICE_CID, templateBody } from './support/bonus-gateway.ts';

let api: SimulatedBonusApi;
let deployment: Deployment;
beforeAll(async () => {
  api = await startBonusApi({ partners: [{ cid: SERVICE_CID, secrets: [SERVICE_SECRET] }] });
  deployment = await openDeployment({
    gateway: { service: { bonusApiUrl: api.url, bonusTimeoutMs: 2_000 } },
    operators: { alpha: {}, beta: {} },
  });
});
afterAll(async () => {
  await deployment.close();
  await api.close();
});

/** Calls a process as an operator until the answer is no longer "still open". */
async function ask(
  baseUrl: string,
  operatorId: string,
  path: string,
  fields: object,
): Promise<CallResult> {
  const [cid, secret] = [`${operatorId}-key`, `${operatorId}-api-secret-that-is-long-enough`];
  const operator = createOperator({ baseUrl, cid, secret });
  try {
    for (const startedAtMs = performance.now(); ; ) {
      const answer = await operator.call(path, fields);
      if (answer.status !== 409 || performance.now() - startedAtMs > 40_000) return answer;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    await operator.close();
  }
}

describe('a gateway killed while the service carries a call out (I3, I8)', () => {
  it('neither orphans, doubles nor leaks anything: before a create has taken effect, and after a batch has', {
    timeout: 120_000,
  }, async () => {
    const name = 'Killed';
    const body = templateBody({ name });
    const first = await deployment.replica();
    const created = api.hold('templates/add', { point: 'before' });
    const lostCreate = ask(first.baseUrl, 'alpha', '/bonuses/templates/add', body);
    await created.arrived;
    await first.process.kill();
    created.release();
    expect((await lostCreate).failure).toBe('connection');

    const second = await deployment.replica();
    const found = await ask(second.baseUrl, 'alpha', '/bonuses/templates/add', body);
    const made = [...api.templates.values()].filter((template) => template.name === name);
    expect([found.status, found.json?.id, made.length]).toEqual([200, made[0]?.id, 1]);
    const templateId = made[0]?.id ?? 0;
    const foreign = await ask(second.baseUrl, 'beta', '/bonuses/template', { templateId });
    expect(foreign.status).toBe(404);

    const batch = batchBody(templateId, ['ann', 'ben']);
    const issued = api.hold('bonus/applyBatch', { point: 'after' });
    const lostBatch = ask(second.baseUrl, 'alpha', '/bonuses/bonus/applyBatch', batch);
    await issued.arrived;
    await second.process.kill();
    issued.release();
    expect((await lostBatch).failure).toBe('connection');

    const third = await deployment.replica();
    const applied = await ask(third.baseUrl, 'alpha', '/bonuses/bonus/applyBatch', batch);
    expect(applied.status).toBe(200);
    expect(Object.values(objectOf(applied.json?.items))).toMatchObject([
      { userId: 'ann', templateId },
      { userId: 'ben', templateId },
    ]);
    const bonuses = api.bonuses.filter((bonus) => bonus.template.id === templateId);
    expect(bonuses).toHaveLength(2);
    await third.process.kill();
  });
});
