import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import {
  type BonusGateway,
  batchBody,
  SERVICE_CID,
  startBonusGateway,
} from './support/bonus-gateway.ts';

/** A limit counts the work in a request, not requests (I7). */

let standsAtMs: number | undefined;
const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => standsAtMs ?? performance.now(),
};
let deployment: BonusGateway;
let template: number;
beforeAll(async () => {
  deployment = await startBonusGateway({ clock });
  template = await deployment.template(deployment.alpha);
});
afterAll(() => deployment.close());

const invented = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${name}-${n}`);
const apply = (name: string, count: number) =>
  deployment.alpha.call('/bonuses/bonus/applyBatch', batchBody(template, invented(name, count)));
const countPlayers = async () => {
  const [row] = await deployment.sql<{ count: string }>('SELECT count(*) FROM players');
  return Number(row?.count);
};

it('charges a batch by its players: a flood of invented ones makes rows at a known pace (I7)', async () => {
  standsAtMs = Math.floor(performance.now());
  const answers = await Promise.all(invented('flood', 6).map((name) => apply(name, 1_000)));
  const limited = answers.filter(({ status }) => status === 429);
  expect(limited).toHaveLength(2);
  expect(limited.map(({ json }) => json?.code)).toEqual([10, 10]);
  expect(limited[0]?.headers['retry-after']).toBe('5');
  expect(await countPlayers()).toBeLessThanOrEqual(4_000);
  const rejected = await deployment.gateway.metric('gateway_rejected_total', {
    operator: 'alpha',
    reason: 'rate',
  });
  expect(rejected).toBe(2);
  // It delays nobody else.
  const other = await deployment.template(deployment.beta);
  const issued = await deployment.beta.call('/bonuses/bonus/applyBatch', batchBody(other, ['ben']));
  expect(issued.status).toBe(200);
  standsAtMs += 1_000;
  expect((await apply('later', 200)).status).toBe(200);
  standsAtMs = undefined;
});

it('answers the repeats of a large batch by what became of it: a 429 would pass for one that was never made', async () => {
  const ofBeta = await deployment.template(deployment.beta, { name: 'Large' });
  const body = batchBody(ofBeta, invented('large', 1_000));
  const applyLarge = () => deployment.beta.call('/bonuses/bonus/applyBatch', body);
  standsAtMs = Math.floor(performance.now());
  const how = { kind: 'status', status: 500, effect: 'applied' } as const;
  deployment.api.misbehave('bonus/applyBatch', how, { calls: 1 });
  const answers: number[] = [];
  for (let n = 0; n < 6; n += 1) answers.push((await applyLarge()).status);
  expect(answers).toEqual([502, 409, 409, 409, 409, 409]);
  standsAtMs = undefined;
});

it('asks the service for a hundred unknown ids at most, and names the field beyond', async () => {
  const revoke = (from: number, count: number) =>
    deployment.beta.call('/bonuses/bonus/revokeBatch', {
      bonusesIds: Array.from({ length: count }, (_, n) => from + n),
    });
  standsAtMs = Math.floor(performance.now());
  const asked = deployment.api.requests.length;
  const tooMany = await revoke(5_000_000, 101);
  expect([tooMany.status, tooMany.json?.code]).toEqual([400, 5]);
  expect(tooMany.json?.message).toMatch(/^bonusesIds: 101 /);
  expect(deployment.api.requests.length).toBe(asked);

  expect((await revoke(6_000_000, 100)).status).toBe(200);
  expect(deployment.api.requests.length).toBe(asked + 100);
  const limited = await revoke(7_000_000, 1);
  expect([limited.status, limited.json?.code]).toEqual([429, 10]);
  expect(deployment.api.requests.length).toBe(asked + 100);
  standsAtMs = undefined;
});

it('limits the megabytes per second for an operator: pages of large templates would occupy a whole process (I7)', async () => {
  const { alpha, beta, api, gateway } = deployment;
  const availableTournaments = Array.from({ length: 800 }, (_, n) => `${'x'.repeat(34)}${n}`);
  const sharedTemplates = Array.from(
    { length: 100 },
    (_, n) => api.createTemplate(SERVICE_CID, { name: `Large ${n}`, availableTournaments }).id,
  );
  await gateway.reconfigure('alpha', { bonuses: { sharedTemplates } });
  const list = () => alpha.call('/bonuses/templates', {});
  expect((await list()).body.length).toBeGreaterThan(3_000_000);
  standsAtMs = Math.floor(performance.now());
  const answers = await Promise.all(Array.from({ length: 40 }, list));
  const told = answers.filter(({ status }) => status === 200);
  // The four under way when byte sixteen million is reached are still answered.
  expect(told.length).toBeGreaterThan(2);
  expect(told.length).toBeLessThan(10);
  const [limited] = answers.filter(({ status }) => status !== 200);
  expect([limited?.status, limited?.json?.code]).toEqual([429, 10]);
  expect(Number(limited?.headers['retry-after'])).toBeGreaterThan(0);
  expect((await beta.call('/bonuses/templates', {})).status).toBe(200);
  standsAtMs = undefined;
});
