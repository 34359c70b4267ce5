import { createHmac, randomUUID } from 'node:crypto';
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

const base64url = (text: string) => Buffer.from(text).toString('base64url');

/** A valid signature, except for what the test changes. */
function signature(body: string, header: object, secret = 'the-services-secret', hash = 'sha256') {
  const protectedHeader = base64url(JSON.stringify(header));
  const mac = createHmac(hash, secret).update(`${protectedHeader}.${base64url(body)}`);
  return `${protectedHeader}..${mac.digest('base64url')}`;
}

describe.each(CALLBACKS)('%s without a good signature', (_, method, path, body) => {
  const hs256 = { alg: 'HS256', typ: 'JWT' };
  const good = signature(body, hs256);
  const headers: Readonly<Record<string, string | undefined>> = {
    missing: undefined,
    empty: '',
    'no jws': 'not a signature',
    'of another secret': signature(body, hs256, 'alpha-wallet-secret'),
    'of an operator': signature(body, hs256, 'alpha-api-secret-that-is-long-enough'),
    'of another body': signature(`${body} `, hs256),
    'by algorithm none': `${base64url('{"alg":"none"}')}..`,
    'by HS512': signature(body, { alg: 'HS512' }, 'the-services-secret', 'sha512'),
    'by HS256 that calls itself HS512': signature(body, { alg: 'HS512' }),
    'with a critical extension': signature(body, { ...hs256, b64: false, crit: ['b64'] }),
    'cut short': good.slice(0, -4),
    'with its payload attached': good.replace('..', `.${base64url(body)}.`),
  };

  it.each(Object.entries(headers))('%s is code 1, as 400, on PUT as 401', async (__, jws) => {
    const failures = await gateway.metric('gateway_signature_failures_total', {
      caller: 'service',
    });
    const options = {
      signWith: null,
      ...(jws !== undefined && { headers: { 'x-sign-jws': jws } }),
    };
    const answer = await gateway.service.call(method, path, body, options);
    expect([answer.status, answer.json?.code]).toEqual([method === 'PUT' ? 401 : 400, 1]);
    expect(answer.json?.message).toEqual(expect.any(String));
    const after = await gateway.metric('gateway_signature_failures_total', { caller: 'service' });
    expect(after).toBe(failures + 1);
  });

  it('is refused before anything is read from the body', async () => {
    const answer = await gateway.service.call(method, path, 'not json', { signWith: null });
    expect(answer.json?.code).toBe(1);
  });
});

it('takes HS256 with its header in any order and with more members', async () => {
  const body = profileBody('a-token-that-nobody-has');
  for (const header of [
    { typ: 'JWT', alg: 'HS256' },
    { alg: 'HS256' },
    { alg: 'HS256', kid: '1' },
  ]) {
    const headers = { 'x-sign-jws': signature(body, header) };
    const answer = await gateway.service.call('POST', '/user/profile', body, {
      signWith: null,
      headers,
    });
    expect(answer.json?.code).toBe(3);
  }
});

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

  it.each(['1e308', '0', '0.0', '-0', '0.00000000000000000001'])(
    'not because its amount is %s',
    async (amount) => {
      const bet = await placedBet(gateway);
      expect((await bet.settle(amount)).json?.code).not.toBe(5);
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
