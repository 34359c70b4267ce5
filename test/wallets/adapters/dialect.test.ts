import { describe, expect, it } from 'vitest';
import { signingKeys, verify } from '../../../src/protocol/signature.ts';
import type { Dialect } from '../../../src/wallets/wallet-config.ts';
import { betCall, readCall, SECRET } from '../support/calls.ts';
import { adapter, verdict } from '../support/verdicts.ts';

const place = (dialect: Dialect, status: number, body: unknown) =>
  verdict(dialect, 'place', status, body);

const ACCEPTED = { kind: 'accepted' };
const declined = (code: number) => ({ kind: 'declined', code });
const UNKNOWN = { kind: 'unknown' };

describe('paths', () => {
  it('replaces those it names, behind the base address', () => {
    const one = adapter({ paths: { profile: '/users/profile', bet: '/bets' } });
    expect(one.readRequest(readCall({ operation: 'profile' }), 1000).path).toBe(
      '/api/users/profile',
    );
    expect(one.readRequest(readCall({ operation: 'balance' }), 1000).path).toBe(
      '/api/user/balance',
    );
    expect(one.betRequest(betCall(), 1000).path).toBe('/api/bets');
  });
});

describe('headers', () => {
  it('are sent along, but never in place of the gateway’s own', () => {
    const { headers, body } = adapter({
      headers: { 'X-Api-Key': 'k', 'X-Sign-Jws': 'forged', 'Accept-Encoding': 'gzip' },
    }).betRequest(betCall({ requestId: 'req-1' }), 1000);
    expect(headers).toMatchObject({
      'x-api-key': 'k',
      'x-request-id': 'req-1',
      'accept-encoding': 'identity',
    });
    expect(verify(headers['x-sign-jws'], body, signingKeys([SECRET])).ok).toBe(true);
    const names = Object.keys(headers).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('successStatuses', () => {
  it('takes the named 2xx as success, and no others', () => {
    const dialect = { successStatuses: [200, 201] };
    expect(place(dialect, 201, { transactionId: 't1' })).toMatchObject(ACCEPTED);
    expect(place(dialect, 202, { transactionId: 't1' })).toMatchObject(UNKNOWN);
    expect(place({ successStatuses: [201] }, 200, { transactionId: 't1' })).toMatchObject(UNKNOWN);
  });

  it('never takes an error status', () => {
    const dialect = { successStatuses: [200, 400, 500] };
    expect(place(dialect, 500, { transactionId: 't1' })).toMatchObject(UNKNOWN);
    expect(place(dialect, 400, { transactionId: 't1' })).toMatchObject(UNKNOWN);
  });
});

describe('errorStatuses', () => {
  const dialect: Dialect = { errorStatuses: { 401: 3, 403: 1, 404: 5, 409: 8, 500: 7, 503: 7 } };

  it('reads the named statuses as refusals with that code, whatever the body repeats', () => {
    expect(place(dialect, 401, '')).toMatchObject(declined(3));
    expect(place(dialect, 403, '<html>')).toMatchObject(declined(1));
    expect(place(dialect, 404, { code: 404, message: 'No such user' })).toEqual({
      ...declined(5),
      message: 'No such user',
    });
    expect(place(dialect, 422, { code: 7 })).toMatchObject(UNKNOWN);
  });

  it.each([500, 503])('never makes a decline of %i (I2)', (status) => {
    expect(place(dialect, status, { code: 7 })).toMatchObject({
      kind: 'unknown',
      fault: 'http_error',
    });
  });

  it('leaves a place unknown if the status means such a code', () => {
    expect(place(dialect, 409, '')).toMatchObject({ kind: 'unknown', code: 8 });
  });

  it('confirms no rollback by a bare status: a proxy answers 404 as well', () => {
    const risky: Dialect = { errorStatuses: { 404: 8 } };
    expect(verdict(risky, 'rollback', 404, '<html>')).toMatchObject(UNKNOWN);
    expect(verdict(risky, 'rollback', 404, '<html>')).not.toHaveProperty('code');
  });
});

describe('codeField', () => {
  it('looks for the code there alone', () => {
    const dialect = { codeField: 'errorCode' };
    expect(place(dialect, 400, { errorCode: 7, code: 1 })).toMatchObject(declined(7));
    expect(place(dialect, 400, { code: 7 })).toMatchObject(UNKNOWN);
    expect(place(dialect, 400, { errorCode: 100 })).toMatchObject(UNKNOWN);
  });
});

describe('okCodes', () => {
  const dialect = { okCodes: [0, 1] };
  const good = { transactionId: 't1' };

  it('reads an HTTP 200 with another code as an error with that code', () => {
    expect(place(dialect, 200, { code: 7, message: 'No money' })).toMatchObject(declined(7));
    expect(place(dialect, 200, { ...good, code: 7 })).toMatchObject(declined(7));
    expect(place(dialect, 200, { code: 100 })).toMatchObject({ kind: 'unknown', code: 100 });
  });

  it('accepts with a good code or none, if the rest is right', () => {
    expect(place(dialect, 200, { ...good, code: 1 })).toMatchObject(ACCEPTED);
    expect(place(dialect, 200, good)).toMatchObject(ACCEPTED);
    expect(place(dialect, 200, { code: 0 })).toMatchObject(UNKNOWN);
  });

  it('holds for reads too', () => {
    const response = { status: 200, body: Buffer.from('{"code":3,"message":"Bad token"}') };
    const call = readCall({ operation: 'profile' });
    expect(adapter(dialect).readVerdict(call, response)).toMatchObject(declined(3));
  });
});

describe('mapCodes', () => {
  it('translates per operation', () => {
    const dialect: Dialect = { mapCodes: { place: { 9: 8, 2: 7 }, profile: { 2: 3 } } };
    expect(place(dialect, 400, { code: 2 })).toMatchObject(declined(7));
    expect(verdict(dialect, 'settle', 400, { code: 2 })).toMatchObject(declined(2));
    const call = readCall({ operation: 'profile' });
    const response = { status: 400, body: Buffer.from('{"code":2}') };
    expect(adapter(dialect).readVerdict(call, response)).toMatchObject(declined(3));
  });

  it('leaves a place unknown where it maps to such a code', () => {
    const dialect: Dialect = { mapCodes: { place: { 9: 8 } } };
    expect(place(dialect, 400, { code: 9 })).toMatchObject({ kind: 'unknown', code: 8 });
  });

  it('leaves a place unknown where it maps such a code to one that does: that may have been meant (I2)', () => {
    const dialect: Dialect = {
      errorStatuses: { 409: 9, 400: 9, 423: 3 },
      mapCodes: { place: { 9: 8, 3: 2, 7: 9 } },
      unknownCodes: [2],
    };
    expect(place(dialect, 409, '<html>')).toMatchObject({ ...UNKNOWN, code: 9 });
    expect(place(dialect, 409, { code: 409 })).toMatchObject({ ...UNKNOWN, code: 9 });
    expect(place(dialect, 400, 'nope')).toMatchObject({ ...UNKNOWN, code: 9 });
    expect(place(dialect, 423, '')).toMatchObject({ ...UNKNOWN, code: 3 });
    // The code of a body is not mapped twice.
    expect(place(dialect, 400, { code: 7 })).toMatchObject(declined(9));
    expect(verdict(dialect, 'settle', 409, '')).toMatchObject(declined(9));
  });

  it('never maps 100 away (I2)', () => {
    const dialect: Dialect = { mapCodes: { place: { 100: 7 }, settle: { 100: 20 } } };
    expect(place(dialect, 400, { code: 100 })).toMatchObject({ kind: 'unknown', code: 100 });
    expect(verdict(dialect, 'settle', 400, { code: 100 })).toMatchObject(declined(100));
  });
});

describe('unknownCodes', () => {
  it('leaves a place unknown by further codes of the wallet, and nothing else', () => {
    const dialect: Dialect = { unknownCodes: [2], mapCodes: { place: { 2: 7 } } };
    expect(place(dialect, 400, { code: 2 })).toMatchObject(UNKNOWN);
    expect(place(dialect, 400, { code: 7 })).toMatchObject(declined(7));
    expect(verdict(dialect, 'settle', 400, { code: 2 })).toMatchObject(declined(2));
  });
});

describe('echo: ignore', () => {
  const dialect = { echo: 'ignore' } as const;

  it('accepts another transactionId or none, in a JSON object', () => {
    expect(place(dialect, 200, { transactionId: 'transaction_t1' })).toMatchObject(ACCEPTED);
    expect(place(dialect, 200, {})).toMatchObject(ACCEPTED);
    expect(place(dialect, 200, '')).toMatchObject(UNKNOWN);
    expect(place(dialect, 200, 'OK')).toMatchObject(UNKNOWN);
  });

  it('does not take an error in an HTTP 200 for a yes (I2)', () => {
    expect(place(dialect, 200, { code: 7, message: 'No money' })).toMatchObject(UNKNOWN);
    expect(place(dialect, 200, { code: '7', message: 'No money' })).toMatchObject(UNKNOWN);
  });
});

describe('emptyOk', () => {
  it('accepts an empty success, and nothing else that is not JSON', () => {
    const dialect = { emptyOk: true };
    expect(place(dialect, 200, '')).toMatchObject(ACCEPTED);
    expect(place(dialect, 200, ' \r\n')).toMatchObject(ACCEPTED);
    expect(place(dialect, 200, 'OK')).toMatchObject(UNKNOWN);
    expect(place(dialect, 200, '{}')).toMatchObject(UNKNOWN);
    expect(place(dialect, 400, '')).toMatchObject(UNKNOWN);
  });
});
