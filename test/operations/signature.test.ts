import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody, rollbackBody } from '../../src/protocol/callback-bodies.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const SECRET = 'the-services-secret';
/** The secret before the last rotation. */
const OLD_SECRET = 'the-services-old-secret';
const BODY_BYTES_MAX = 256 * 1024;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { service: { secrets: [SECRET, OLD_SECRET] } },
  });
});
afterAll(() => gateway.close());

type Method = 'POST' | 'PUT';
const callbacks: [Method, string][] = [
  ['POST', '/payment/bet'],
  ['PUT', '/payment/bet'],
];

const send = (method: Method, path: string, body: string | Buffer, jws: string | undefined) =>
  gateway.service.call(method, path, body, {
    signWith: null,
    headers: jws === undefined ? {} : { 'x-sign-jws': jws },
  });

/** Any header, validly signed: what a hostile or sloppy sender could produce. */
function signedWith(headerText: string, body: string | Buffer, secret = SECRET): string {
  const header = Buffer.from(headerText).toString('base64url');
  const input = `${header}.${Buffer.from(body).toString('base64url')}`;
  return `${header}..${createHmac('sha256', secret).update(input).digest('base64url')}`;
}
const HEADER = '{"alg":"HS256","typ":"JWT"}';
const failures = () => gateway.metric('gateway_signature_failures_total', { caller: 'service' });

describe.each(callbacks)('a %s %s', (method, path) => {
  const status = method === 'PUT' ? 401 : 400;
  const body = '{"token":"a-token-of-nobody","transactionId":"1"}';
  const bad: [string, string | undefined][] = [
    ['no signature', undefined],
    ['an empty one', ''],
    ['one that is none', 'signed, yours truly'],
    ['another secret’s', signedWith(HEADER, body, 'another secret')],
    ['another body’s', signedWith(HEADER, `${body} `)],
    ['another algorithm', signedWith('{"alg":"HS512","typ":"JWT"}', body)],
    ['no algorithm', signedWith('{"alg":"none"}', body)],
    ['a critical extension', signedWith('{"alg":"HS256","crit":["b64"],"b64":false}', body)],
    ['a compact one with its payload', signedWith(HEADER, body).replace('..', `.${btoa(body)}.`)],
    ['one cut short', signedWith(HEADER, body).slice(0, -1)],
  ];

  it.each(bad)(`with %s is refused with code 1, ${status}, and counted`, async (_, jws) => {
    const before = await failures();
    const answer = await send(method, path, body, jws);
    expect([answer.status, answer.json?.code]).toEqual([status, 1]);
    expect(await failures()).toBe(before + 1);
  });

  it('is not even read before its signature: nonsense unsigned is code 1, signed code 5', async () => {
    for (const nonsense of ['', 'nonsense', '{"a":1,"a":2}', Buffer.of(0xff, 0xfe)]) {
      const unsigned = await send(method, path, nonsense, undefined);
      expect([unsigned.status, unsigned.json?.code]).toEqual([status, 1]);
      const signed = await gateway.service.call(method, path, nonsense);
      expect([signed.status, signed.json?.code]).toEqual([400, 5]);
    }
  });

  it('is refused unread when it is over 256 KiB, signed or not', async () => {
    const large = 'x'.repeat(BODY_BYTES_MAX + 1);
    expect((await gateway.service.call(method, path, large)).status).toBe(413);
    expect((await send(method, path, large, undefined)).status).toBe(413);
    const fits = await gateway.service.call(method, path, large.slice(1));
    expect([fits.status, fits.json?.code]).toEqual([400, 5]);
  });
});

describe('a signature', () => {
  const signed = (bet: TestBet, headerText: string, secret = SECRET) => {
    const body = placeBody(bet.slip);
    return send('POST', '/payment/bet', body, signedWith(headerText, body, secret));
  };

  it('by any of the service’s secrets verifies, so that they can rotate', async () => {
    const bet = await unplacedBet(gateway);
    expect((await signed(bet, HEADER, OLD_SECRET)).status).toBe(200);
    expect((await signed(bet, HEADER, SECRET)).status).toBe(200);
  });

  it('that does not verify changes nothing, although the bet exists', async () => {
    const bet = await placedBet(gateway);
    const body = rollbackBody(bet.slip, 50);
    expect((await send('PUT', '/payment/bet', body, undefined)).status).toBe(401);
    expect(bet.arrivals()).toEqual(['place']);
  });
});
