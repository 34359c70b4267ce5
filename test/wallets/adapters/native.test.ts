import { describe, expect, it } from 'vitest';
import { signingKeys, verify } from '../../../src/protocol/signature.ts';
import { nativeAdapter } from '../../../src/wallets/adapters/native.ts';
import type { Dialect } from '../../../src/wallets/wallet-config.ts';
import { betCall, manualClock, readCall, SECRET, walletSettings } from '../support/calls.ts';

const clock = manualClock();

function adapter(dialect: Dialect = {}, baseUrl = 'https://wallet.example/sportsbook') {
  return nativeAdapter(walletSettings({ baseUrl, dialect, secrets: [SECRET, 'older'] }), clock);
}

function bet(status: number, body: unknown, call = betCall({ transactionId: 't1' })) {
  const bytes = typeof body === 'string' ? body : JSON.stringify(body);
  return adapter().betVerdict(call, { status, body: Buffer.from(bytes) });
}

function read(operation: 'profile' | 'balance', status: number, body: unknown) {
  const bytes = typeof body === 'string' ? body : JSON.stringify(body);
  return adapter().readVerdict(readCall({ operation }), { status, body: Buffer.from(bytes) });
}

describe('a request', () => {
  it('carries exactly the bytes of the call, signed as they are with the first secret (I9)', () => {
    const body = '{"transactionId":"t1","amount":12.10,"big":9007199254740993,"name":"é\\u0000"}';
    const request = adapter().betRequest(betCall({ body }), 4000);
    expect(request.body.toString()).toBe(body);
    const verdict = (secret: string) =>
      verify(request.headers['x-sign-jws'], request.body, signingKeys([secret])).ok;
    expect([verdict(SECRET), verdict('older')]).toEqual([true, false]);
  });

  it.each([
    ['POST', betCall({ operation: 'place', method: 'POST' })],
    ['PUT', betCall({ operation: 'settle', method: 'PUT' })],
  ] as const)('goes by %s to the path of bets', (method, call) => {
    const request = adapter().betRequest(call, 4000);
    expect([request.method, request.path]).toEqual([method, '/sportsbook/payment/bet']);
  });

  it.each(['profile', 'balance'] as const)('goes to the path of %s', (operation) => {
    const { method, path } = adapter().readRequest(readCall({ operation }), 4000);
    expect([method, path]).toEqual(['POST', `/sportsbook/user/${operation}`]);
  });
});

describe('an answer to a bet call (I2)', () => {
  const good = { transactionId: 't1', transactionTime: '2026-01-02T03:04:05Z' };

  it('accepts with 200 and the transactionId as it was sent', () => {
    expect(bet(200, good)).toEqual({ kind: 'accepted', transactionTime: '2026-01-02T03:04:05Z' });
    expect(bet(200, { ...good, code: 0, more: [1] })).toMatchObject({ kind: 'accepted' });
  });

  it.each([0, -0, '0', '', null, 'OK'])('accepts with %j for a code: it names no error', (code) => {
    expect(bet(200, { ...good, code })).toMatchObject({ kind: 'accepted' });
  });

  it.each([undefined, null, 5, 'yesterday'])('accepts with a time of its own for %s', (odd) => {
    expect(bet(200, { ...good, transactionTime: odd })).toEqual({
      kind: 'accepted',
      transactionTime: new Date(clock.nowMs()).toISOString(),
    });
  });

  it.each<[string, unknown]>([
    ['another transactionId', { ...good, transactionId: 't2' }],
    ['the same in other letters', { ...good, transactionId: 'T1' }],
    ['the same with a space', { ...good, transactionId: 't1 ' }],
    ['none', { transactionTime: good.transactionTime }],
    ['null for one', { transactionId: null }],
    ['an array', [good]],
    ['a string', '"t1"'],
    ['an empty body', ''],
    ['HTML', '<html>OK</html>'],
    ['half of it', '{"transactionId":"t1"'],
    ['two of them', '{"transactionId":"t2","transactionId":"t1"}'],
    ['a byte order mark', '\ufeff{"transactionId":"t1"}'],
    ['an error code', { ...good, code: 7, message: 'Not enough money' }],
    ['an error code that is text', { ...good, code: '7' }],
    ['an error code that is a fraction', { ...good, code: 7.5 }],
    ['an error code beyond all integers', '{"transactionId":"t1","code":1e300}'],
  ])('is unknown at 200 with %s', (_, body) => {
    expect(bet(200, body)).toMatchObject({ kind: 'unknown', fault: 'bad_answer' });
    expect(bet(200, body)).not.toHaveProperty('code');
  });

  it('is declined at 400 with a code, in its words or in ours', () => {
    expect(bet(400, { code: 7, message: 'No money' })).toEqual({
      kind: 'declined',
      code: 7,
      message: 'No money',
    });
    expect(bet(400, { code: 9, message: 3 })).toMatchObject({ kind: 'declined', code: 9 });
    const long = bet(400, { code: 7, message: 'x'.repeat(10_000) });
    expect(long).toHaveProperty('message.length', 255);
  });

  it.each<[string, unknown]>([
    ['no code', { message: 'no' }],
    ['a code that is text', { code: '7' }],
    ['a code that is a fraction', { code: 7.5 }],
    ['a code beyond all integers', '{"code":1e300}'],
    ['a code beyond what the journal holds', { code: 2_147_483_648 }],
    ['an empty body', ''],
    ['HTML', '<html>Bad Request</html>'],
    ['two codes', '{"code":100,"code":7}'],
  ])('is unknown at 400 with %s', (_, body) => {
    expect(bet(400, body)).toMatchObject({ kind: 'unknown', fault: 'bad_answer' });
  });

  it.each([201, 202, 204, 301, 302, 304, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504])(
    'is unknown at %i, whatever its body says',
    (status) => {
      expect(bet(status, { code: 7 })).toMatchObject({ kind: 'unknown', fault: 'http_error' });
      expect(bet(status, good)).toMatchObject({ kind: 'unknown', fault: 'http_error' });
    },
  );

  it.each([0, 8, 10, 100])('leaves a place unknown at 400 with code %i', (code) => {
    expect(bet(400, { code })).toMatchObject({ kind: 'unknown', fault: 'bad_answer', code });
  });

  it.each(['settle', 'unsettle', 'rollback', 'update'] as const)(
    'hands the codes 8, 10 and 100 of a %s on to who knows the bet',
    (operation) => {
      for (const code of [8, 10, 100]) {
        const call = betCall({ operation, method: 'PUT', transactionId: 't1' });
        expect(bet(400, { code }, call)).toMatchObject({ kind: 'declined', code });
      }
    },
  );
});

describe('an answer to a read', () => {
  it('is passed on byte for byte', () => {
    const text = ' {"userId":"u1", "currency":"EUR","amount":12.10}';
    expect(read('balance', 200, text)).toMatchObject({ kind: 'answered', document: { text } });
    expect(read('profile', 200, text)).toMatchObject({ kind: 'answered', document: { text } });
  });

  it.each<['profile' | 'balance', unknown]>([
    ['profile', { userId: 5, currency: 'EUR' }],
    ['profile', { userId: 'u1' }],
    ['profile', []],
    ['profile', ''],
    ['balance', { userId: 'u1', currency: 'EUR' }],
    ['balance', { amount: '12.5' }],
    ['balance', '{"amount":1e999}'],
    ['balance', 'null'],
  ])('is broken for a %s that is %j', (operation, body) => {
    expect(read(operation, 200, body)).toMatchObject({ kind: 'unknown', fault: 'bad_answer' });
  });
});
