import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  balanceBody,
  placeBody,
  profileBody,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../src/protocol/callback-bodies.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.close());

const player = { token: 'a-token-of-theirs', userId: 'u', currency: 'USD' };
const slip = {
  ...player,
  transactionId: '00000000-0000-4000-8000-000000000001',
  amount: '10',
  coefficient: '1.2',
  bonusId: null,
  bonusTemplateId: null,
};
const CALLBACKS = [
  ['profile', 'POST', '/user/profile', profileBody(player.token)],
  ['balance', 'POST', '/user/balance', balanceBody(player)],
  ['place', 'POST', '/payment/bet', placeBody(slip)],
  [
    'settle',
    'PUT',
    '/payment/bet',
    settleBody(slip, { amount: '1', resultType: 'won', token: undefined }),
  ],
  ['unsettle', 'PUT', '/payment/bet', unsettleBody(slip, '1')],
  ['rollback', 'PUT', '/payment/bet', rollbackBody(slip, 50)],
  ['update', 'PUT', '/payment/bet', updateBody(slip, '1.5')],
] as const;

describe('a callback that cannot be read', () => {
  const deep = `{"a":${'['.repeat(64)}${']'.repeat(64)}}`;
  const unreadable: readonly (string | Buffer)[] = [
    '',
    'null',
    '[]',
    '"text"',
    '{',
    '{"a":1}x',
    '\ufeff{}',
    '{"token":"a-token-of-theirs","token":"a-token-of-theirs"}',
    '{"x":{"a":1,"\\u0061":2}}',
    deep,
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  ];

  it.each(unreadable)('is 400/5 whatever it was meant to be: %j', async (body) => {
    for (const [, method, path] of CALLBACKS) {
      const answer = await gateway.service.call(method, path, body);
      expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    }
  });

  const without = (body: string, field: string) => {
    const { [field]: _, ...rest } = JSON.parse(body);
    return JSON.stringify(rest);
  };
  const needed: Readonly<Record<(typeof CALLBACKS)[number][0], readonly string[]>> = {
    profile: ['token'],
    balance: ['token', 'userId', 'currency'],
    place: ['transactionId', 'userId', 'token', 'amount', 'currency', 'type'],
    settle: ['transactionId', 'userId', 'amount', 'resultType', 'type'],
    unsettle: ['transactionId', 'userId', 'type'],
    rollback: ['transactionId', 'userId', 'type'],
    update: ['transactionId', 'userId', 'type'],
  };
  it.each(CALLBACKS)(
    'because a %s lacks something is 400/5 naming it',
    async (operation, method, path, body) => {
      for (const field of needed[operation]) {
        const answer = await gateway.service.call(method, path, without(body, field));
        expect([answer.status, answer.json?.code]).toEqual([400, 5]);
        expect(answer.json?.message).toContain(field);
      }
    },
  );

  it.each(['"10"', '-1', '1e999', 'null', '[]', 'true', '-0.01'])(
    'because its amount is %s is 400/5 naming it, nothing sent',
    async (amount) => {
      const bet = await placedBet(gateway);
      const fresh = gateway.service.slip({ ...bet.player, amount });
      const answers = [
        await gateway.service.call('POST', '/payment/bet', placeBody(fresh)),
        await bet.settle(amount),
        await bet.unsettle({ amount }),
      ];
      for (const answer of answers) {
        expect([answer.status, answer.json?.code]).toEqual([400, 5]);
        expect(answer.json?.message).toContain('amount');
      }
      expect(bet.arrivals()).toEqual(['place']);
    },
  );

  it.each([
    ['POST', '2'],
    ['POST', '3'],
    ['POST', '5'],
    ['PUT', '4'],
    ['PUT', '0'],
    ['PUT', '"2"'],
    ['PUT', '2.5'],
  ] as const)(
    'because type and method do not fit is 400/5 naming it: %s %s',
    async (method, type) => {
      const answer = await gateway.service.call(method, '/payment/bet', placeBody(slip, { type }));
      expect([answer.status, answer.json?.code]).toEqual([400, 5]);
      expect(answer.json?.message).toContain('type');
    },
  );

  it('because its body is over 256 KiB is 413, and up to there is read', async () => {
    const pad = (bytes: number) => placeBody(slip, { info: JSON.stringify('x'.repeat(bytes)) });
    const counted = (outcome: string) =>
      gateway.metric('gateway_callbacks_total', {
        operator: 'unknown',
        operation: 'place',
        outcome,
      });
    const before = [await counted('unauthorized'), await counted('invalid')] as const;
    const tooLarge = await gateway.service.call('POST', '/payment/bet', pad(256 * 1024));
    expect(tooLarge.status).toBe(413);
    // A service whose bets are all refused must be visible in the metrics.
    expect(await counted('unauthorized')).toBe(before[0] + 1);
    // Its signature is not verified: a stranger must not be able to raise the alert WagergateCallbacksFail.
    expect(await counted('invalid')).toBe(before[1]);
    const large = await gateway.service.call('POST', '/payment/bet', pad(255 * 1024));
    expect([large.status, large.json?.code]).toEqual([400, 3]);
  });
});

it.each([
  ['GET', '/user/profile'],
  ['PUT', '/user/profile'],
  ['DELETE', '/payment/bet'],
  ['POST', '/payment/bets'],
  ['POST', '/metrics'],
  ['POST', '/admin/operators'],
] as const)('has no %s %s on the public listener', async (method, path) => {
  const answer = await gateway.service.call(method, path, { requestId: randomUUID() });
  expect(answer.status).toBe(404);
});

it.each(['text/plain', 'application/json; charset=latin1', '*', 'no media type', ''])(
  'reads a body as JSON although it is labelled "%s"',
  async (label) => {
    const { service } = gateway;
    const answer = await service.call('POST', '/payment/bet', placeBody(slip), {
      headers: { 'content-type': label },
    });
    expect([answer.status, answer.json?.code]).toEqual([400, 3]);
  },
);

it.each(['/user/%zz', '/user/profiles'])(
  'says in its own words that there is no %s',
  async (path) => {
    const answer = await gateway.service.call('POST', path, {});
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(answer.json).toEqual({ code: expect.any(Number), message: expect.any(String) });
  },
);
