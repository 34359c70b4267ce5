import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } }, beta: {} },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

/** Sets the wallet's next answer, word for word. */
function next(operation: 'profile' | 'balance', body: string): void {
  gateway.wallet('alpha').misbehave(operation, { kind: 'status', status: 200, body }, { calls: 1 });
}

const FIELDS = ['currencies', 'isTest', 'customFields', 'userId', 'currency'];

/** How often each member has been repaired so far. */
async function repaired(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const field of FIELDS) {
    const labels = { operator: 'alpha', field };
    counts[field] = await gateway.metric('gateway_repaired_answers_total', labels);
  }
  return counts;
}

async function repairedBy(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = await repaired();
  await work();
  const after = await repaired();
  return FIELDS.filter((field) => after[field] === (before[field] ?? 0) + 1);
}

describe('the count of repairs', () => {
  it('is there as zero for every operator and member, before anything happens', async () => {
    const text = (await Array.fromAsync(gateway.metrics.text())).join('');
    for (const field of FIELDS) {
      const head = `gateway_repaired_answers_total{operator="beta",field="${field}"}`;
      expect(text).toContain(`${head} 0\n`);
    }
  });
});

describe('a profile that falls short of the protocol is repaired, and counted', () => {
  const GOOD = '"currencies":["USD"]';
  it.each([
    ['has no currencies', '"isTest":true', { isTest: true }, ['currencies']],
    ['has null for currencies', '"currencies":null', {}, ['currencies']],
    ['has a text for currencies', '"currencies":"USD,EUR"', {}, ['currencies']],
    ['has a text for isTest', `${GOOD},"isTest":"true"`, {}, ['isTest']],
    ['has null for isTest', `${GOOD},"isTest":null`, {}, ['isTest']],
    ['has a text for customFields', `${GOOD},"customFields":"none"`, {}, ['customFields']],
    ['has a list for customFields', `${GOOD},"customFields":[]`, {}, ['customFields']],
    [
      'has nothing right but the player',
      '"isTest":0,"customFields":null',
      {},
      ['currencies', 'isTest', 'customFields'],
    ],
  ])('that %s', async (_, members, kept, fields) => {
    const { token, userId, user } = await gateway.player();
    next('profile', `{"userId":"${user}","currency":"USD",${members}}`);
    const found = await repairedBy(async () => {
      const answer = await gateway.service.profile(token);
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({
        ...{ userId, currency: 'USD', currencies: ['USD'], ...kept },
        customFields: { operatorUser: user },
      });
    });
    expect(found).toEqual(fields);
  });

  it.each([
    ['lists several currencies', '"currencies":["EUR","USD"]'],
    ['leaves out what is optional', '"currencies":["USD"]'],
  ])('and one that %s is left as it is', async (_, members) => {
    const { token, user } = await gateway.player();
    next('profile', `{"userId":"${user}","currency":"USD",${members}}`);
    expect(await repairedBy(() => gateway.service.profile(token))).toEqual([]);
  });
});

describe('a balance that falls short of the protocol', () => {
  it.each([
    ['has no userId', '{"currency":"USD","amount":1.50}', ['userId']],
    ['has a number for userId', '{"userId":7,"currency":"USD","amount":1.50}', ['userId']],
    ['has no currency', '{"userId":"x","amount":1.50}', ['currency']],
    ['has null for currency', '{"userId":"x","currency":null,"amount":1.50}', ['currency']],
    ['has only an amount', '{"amount":1.50}', ['userId', 'currency']],
    ['has all', '{"userId":"x","currency":"USD","amount":1.50}', []],
  ])('and %s is complete towards the service, and counted', async (_, body, fields) => {
    const player = await gateway.player();
    next('balance', body);
    const found = await repairedBy(async () => {
      const answer = await gateway.service.balance(player);
      expect(answer.body).toContain('"amount":1.50');
      expect(answer.json).toEqual({ userId: player.userId, currency: 'USD', amount: 1.5 });
    });
    expect(found).toEqual(fields);
  });

  it.each([
    ['names another currency', '{"userId":"x","currency":"EUR","amount":1.50}'],
    ['has a number for its currency', '{"userId":"x","currency":840,"amount":1.50}'],
    ['has a text for its amount', '{"userId":"x","currency":"USD","amount":"1.50"}'],
    ['has null for its amount', '{"userId":"x","currency":"USD","amount":null}'],
    ['has an amount beyond a double', '{"userId":"x","currency":"USD","amount":1e999}'],
  ])('and %s is a broken answer: 503, counted as the wallet’s', async (_, body) => {
    const player = await gateway.player();
    const labels = { operator: 'alpha', operation: 'balance', result: 'bad_answer' };
    const before = await gateway.metric('gateway_wallet_requests_total', labels);
    next('balance', body);
    const found = await repairedBy(async () => {
      const answer = await gateway.service.balance(player);
      expect([answer.status, answer.json?.code]).toEqual([503, 100]);
    });
    expect(found).toEqual([]);
    expect(await gateway.metric('gateway_wallet_requests_total', labels)).toBe(before + 1);
    expect((await gateway.service.balance(player)).status).toBe(200);
  });
});
