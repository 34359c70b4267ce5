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

it('finds again what the service made while PostgreSQL went away (I3)', async () => {
  const body = templateBody({ name: 'Went away' });
  const gate = deployment.api.hold('templates/add', { point: 'after' });
  const lost = deployment.alpha.call('/bonuses/templates/add', body);
  await gate.arrived;
  await proxy.cut();
  gate.release();
  const answer = await lost;
  // Not 503, which would say that nothing was sent.
  expect([answer.status, answer.json?.code]).toEqual([504, 100]);
  expect(answer.json?.message).toContain('still open');
  await proxy.restore();
  const found = await deployment.untilClosed(async () => {
    const again = await deployment.alpha.call('/bonuses/templates/add', body);
    // The pool hands out a few dead connections first.
    return again.status === 503 ? { ...again, status: 409 } : again;
  });
  const made = [...deployment.api.templates.values()].filter(({ name }) => name === 'Went away');
  expect([found.status, found.json?.id, made.length]).toEqual([200, made[0]?.id, 1]);
});

it('says of a batch too that it is open when PostgreSQL went away under it (I3)', async () => {
  const template = await deployment.template(deployment.alpha, { name: 'For a batch' });
  const batch = batchBody(template, ['ann']);
  const gate = deployment.api.hold('bonus/applyBatch', { point: 'after' });
  const lost = deployment.alpha.call('/bonuses/bonus/applyBatch', batch);
  await gate.arrived;
  await proxy.cut();
  gate.release();
  const answer = await lost;
  expect([answer.status, answer.json?.code]).toEqual([504, 100]);
  expect(answer.json?.message).toContain('still open');
  await proxy.restore();
  const found = await deployment.untilClosed(async () => {
    const again = await deployment.alpha.call('/bonuses/bonus/applyBatch', batch);
    return again.status === 503 ? { ...again, status: 409 } : again;
  });
  expect([found.status, found.json?.errorItems]).toEqual([200, []]);
  expect(deployment.api.bonuses).toHaveLength(1);
});
