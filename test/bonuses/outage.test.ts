import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import {
  type BonusGateway,
  batchBody,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
let proxy: TcpProxy;
beforeAll(async () => {
  deployment = await startBonusGateway({
    worker: true,
    service: { bonusTimeoutMs: 3_000 },
    throughDatabase: async (direct) => {
      proxy = await startTcpProxy(direct);
      return proxy.through(direct);
    },
  });
});
afterEach(() => proxy.restore());
afterAll(async () => {
  await deployment.close();
  await proxy.close();
});

it('asks nothing of the service while PostgreSQL is away: 503/100', async () => {
  const template = await deployment.template(deployment.alpha);
  const writes = () =>
    deployment.api.requests.filter(
      ({ method }) => method?.includes('add') || method?.includes('Batch'),
    );
  const before = writes().length;
  await proxy.cut();
  for (const [method, fields] of [
    ['templates', {}],
    ['template', { templateId: template }],
    ['templates/add', templateBody({ name: 'No database' })],
    ['player/bonuses', { userId: 'ann' }],
    ['bonus/applyBatch', batchBody(template, ['ann'])],
    ['bonus/revokeBatch', { bonusesIds: [1] }],
  ] as const) {
    const refused = await deployment.alpha.call(`/bonuses/${method}`, fields);
    expect([refused.status, refused.json?.code], method).toEqual([503, 100]);
  }
  expect(writes().length).toBe(before);
});

/**
 * PostgreSQL goes away under a call that the service has taken.
 * @returns the answer to its repeat, once the outcome is known
 */
async function foundAfterwards(method: 'templates/add' | 'bonus/applyBatch', body: object) {
  const call = () => deployment.alpha.call(`/bonuses/${method}`, body);
  const gate = deployment.api.hold(method, { point: 'after' });
  const lost = call();
  await gate.arrived;
  await proxy.cut();
  gate.release();
  const answer = await lost;
  // Not 503, which would say that nothing was sent.
  expect([answer.status, answer.json?.code]).toEqual([504, 100]);
  expect(answer.json?.message).toContain('still open');
  await proxy.restore();
  return await deployment.untilClosed(async () => {
    const again = await call();
    // The pool hands out a few dead connections first.
    return again.status === 503 ? { ...again, status: 409 } : again;
  });
}

it('finds again what the service made while PostgreSQL went away (I3)', async () => {
  const found = await foundAfterwards('templates/add', templateBody({ name: 'Went away' }));
  const made = [...deployment.api.templates.values()].filter(({ name }) => name === 'Went away');
  expect([found.status, found.json?.id, made.length]).toEqual([200, made[0]?.id, 1]);
});

it('says of a batch too that it is open when PostgreSQL went away under it (I3)', async () => {
  const template = await deployment.template(deployment.alpha, { name: 'For a batch' });
  const found = await foundAfterwards('bonus/applyBatch', batchBody(template, ['ann']));
  expect([found.status, found.json?.errorItems]).toEqual([200, []]);
  expect(deployment.api.bonuses).toHaveLength(1);
});
