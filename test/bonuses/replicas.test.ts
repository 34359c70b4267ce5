import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BonusMethod } from '../../src/bonuses/method-names.ts';
import { createOperator, type SimulatedOperator } from '../../tools/simulator/operator.ts';
import {
  type BonusGateway,
  batchBody,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
let template: number;
/** Alpha's client at each replica. */
let alphas: readonly SimulatedOperator[];
beforeAll(async () => {
  deployment = await startBonusGateway();
  template = await deployment.template(deployment.alpha);
  const { baseUrl } = await deployment.gateway.replica();
  const elsewhere = createOperator({
    baseUrl,
    cid: 'alpha-key',
    secret: 'alpha-api-secret-that-is-long-enough',
  });
  alphas = [deployment.alpha, elsewhere];
});
afterAll(async () => {
  await alphas.at(-1)?.close();
  await deployment.close();
});

const times = (method: BonusMethod) =>
  deployment.api.requests.filter((request) => request.method === method).length;

/** Sends each body this many times to each replica, all at once. */
async function flood(path: string, bodies: readonly object[]) {
  const calls = alphas.flatMap((alpha) =>
    bodies.flatMap((body) => Array.from({ length: 5 }, () => alpha.call(path, body))),
  );
  return await Promise.all(calls);
}

describe('two replicas that are given the same at once', () => {
  it('make one template of one body', async () => {
    const body = templateBody({ name: 'At once' });
    const before = times('templates/add');
    const answers = await flood('/bonuses/templates/add', [body]);
    expect(times('templates/add') - before).toBe(1);
    const made = answers.filter(({ status }) => status === 200);
    expect(new Set(made.map(({ body: text }) => text)).size).toBe(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    const again = await deployment.alpha.call('/bonuses/templates/add', body);
    expect(again.body).toBe(made[0]?.body);
  });

  it('issue each player one bonus, whatever batches they are in', async () => {
    const before = times('bonus/applyBatch');
    // Each has a player of its own: a batch that issues nothing may be requested again.
    const batches = [
      ['ann', 'Ann', 'ben'],
      ['ben', 'carl', 'dora'],
      ['carl', 'ann', 'emil'],
    ].map((users) => batchBody(template, users));
    const answers = await flood('/bonuses/bonus/applyBatch', batches);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    // Overlapping batches may be sent one after another; none is requested twice.
    expect(times('bonus/applyBatch') - before).toBeLessThanOrEqual(batches.length);
    for (const batch of batches) await deployment.alpha.call('/bonuses/bonus/applyBatch', batch);
    expect(times('bonus/applyBatch') - before).toBe(batches.length);
    const players = await deployment.sql<{ operator_user: string; bonuses: number }>(
      `SELECT p.operator_user, count(*)::int AS bonuses FROM players p JOIN bonuses b USING (user_id)
        GROUP BY p.operator_user ORDER BY p.operator_user COLLATE "C"`,
    );
    expect(players).toEqual(
      ['Ann', 'ann', 'ben', 'carl', 'dora', 'emil'].map((user) => ({
        operator_user: user,
        bonuses: 1,
      })),
    );
    expect(await deployment.sql("SELECT 1 FROM bonus_grants WHERE state = 'open'")).toEqual([]);
  });
});
