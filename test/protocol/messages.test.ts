import { describe, expect, it } from 'vitest';
import { RESULT_TYPES } from '../../src/domain/bet.ts';
import { parseBalance, parseBet, parseProfile } from '../../src/protocol/messages.ts';
import samples from '../fixtures/samples.json' with { type: 'json' };
import { BETS, bet, body, fieldOf, message, OPERATIONS } from './support/bet-messages.ts';

describe('the sample messages', () => {
  it.each([
    ['place', 'POST', samples.placeBet],
    ['update', 'PUT', samples.betDataUpdate],
    ['rollback', 'PUT', samples.rollback],
    ['settle', 'PUT', samples.settleWon],
    ['settle', 'PUT', samples.settleLost],
    ['settle', 'PUT', samples.settleRefund],
    ['settle', 'PUT', samples.settleCashout],
    ['unsettle', 'PUT', samples.unsettle],
  ] as const)('reads a %s by %s', (operation, method, { request }) => {
    const parsed = message(parseBet(method, Buffer.from(JSON.stringify(request))));
    expect(parsed).toMatchObject({
      operation,
      transactionId: request.transactionId,
      userId: request.userId,
      amount: String(request.amount),
      currency: request.currency,
      requestId: request.requestId,
    });
  });

  it('reads a profile and a balance', () => {
    const profile = Buffer.from(JSON.stringify(samples.userProfile.request));
    expect(message(parseProfile(profile))).toMatchObject({
      operation: 'profile',
      ...samples.userProfile.request,
    });
    const named = { ...samples.userProfile.request, userId: 'u-1', currency: 'EUR' };
    expect(message(parseProfile(Buffer.from(JSON.stringify(named))))).toMatchObject(named);
    const balance = Buffer.from(JSON.stringify(samples.userBalance.request));
    expect(message(parseBalance(balance))).toMatchObject({
      operation: 'balance',
      ...samples.userBalance.request,
    });
  });

  it('refuses the one that its page abridged', () => {
    const abridged = Buffer.from(JSON.stringify(samples.placeBetOverview.request));
    expect(parseBet('POST', abridged)).toEqual({ ok: false, field: 'userId', why: 'is missing' });
  });
});

describe('profile and balance', () => {
  it.each(['missing', 'null', '7', '""', `"${'t'.repeat(257)}"`, '"\\u0000"', '"\\ud800"'])(
    'need a token: %s is not one',
    (token) => {
      const members = { userId: '"1"', currency: '"USD"' };
      const source = body(token === 'missing' ? members : { ...members, token });
      expect(fieldOf(parseProfile(source))).toBe('token');
      expect(fieldOf(parseBalance(source))).toBe('token');
    },
  );

  it('leave a token of unusual length to be unknown', () => {
    for (const token of ['t', 't'.repeat(256)]) {
      expect(message(parseProfile(body({ token: `"${token}"` }))).token).toBe(token);
    }
  });

  it('balance names player and currency', () => {
    const members = { token: '"t"', userId: '"1"', currency: '"USD"' };
    expect(fieldOf(parseBalance(body({ ...members, userId: undefined })))).toBe('userId');
    expect(fieldOf(parseBalance(body({ ...members, currency: undefined })))).toBe('currency');
  });
});

describe('the operation of a bet', () => {
  it.each(OPERATIONS)('%s is told by method and type', (operation) => {
    expect(message(bet(operation)).operation).toBe(operation);
  });

  it.each([
    ['POST', '2'],
    ['POST', '3'],
    ['POST', '5'],
    ['PUT', '0'],
    ['PUT', '4'],
    ['PUT', '6'],
    ['PUT', '"2"'],
    ['PUT', 'null'],
    ['PUT', '[2]'],
    ['PUT', undefined],
    ['POST', undefined],
  ] as const)('%s does not go with type %s', (method, type) => {
    expect(fieldOf(parseBet(method, body({ ...BETS.place.members, type })))).toBe('type');
  });
});

describe('what only some bet messages have', () => {
  it.each(['token', 'amount', 'currency'])('place needs %s', (name) => {
    expect(fieldOf(bet('place', { [name]: undefined }))).toBe(name);
  });

  it('place may be marked for a sub-partner', () => {
    expect(message(bet('place', { subPartnerId: '"alpha"' }))).toMatchObject({
      subPartnerId: 'alpha',
    });
    for (const none of [undefined, 'null']) {
      expect(message(bet('place', { subPartnerId: none }))).toMatchObject({ subPartnerId: null });
    }
    expect(fieldOf(bet('place', { subPartnerId: '7' }))).toBe('subPartnerId');
    expect(fieldOf(bet('place', { subPartnerId: '"\\ud83d"' }))).toBe('subPartnerId');
  });

  it('place takes a stake as long as the journal can find it by', () => {
    const stakeOf = (chars: number) => bet('place', { amount: `1.${'7'.repeat(chars - 2)}` });
    expect(message(stakeOf(1_000))).toMatchObject({ operation: 'place' });
    expect(fieldOf(stakeOf(1_001))).toBe('amount');
  });

  it('settle needs an amount and one of four results', () => {
    expect(fieldOf(bet('settle', { amount: undefined }))).toBe('amount');
    for (const resultType of RESULT_TYPES) {
      expect(message(bet('settle', { resultType: `"${resultType}"` }))).toMatchObject({
        resultType,
      });
    }
    for (const raw of [undefined, 'null', '"Won"', '""', '1', '["won"]']) {
      expect(fieldOf(bet('settle', { resultType: raw }))).toBe('resultType');
    }
  });

  it('a cashout without a token is a matter of tokens, not of shape', () => {
    for (const token of [undefined, 'null']) {
      const settle = message(bet('settle', { resultType: '"cashout"', token }));
      expect(settle).toMatchObject({ operation: 'settle', token: undefined });
    }
  });

  it.each(['unsettle', 'rollback', 'update'] as const)('%s may leave out the rest', (operation) => {
    const parsed = message(bet(operation, { amount: undefined, currency: undefined }));
    expect(parsed).toMatchObject({ amount: undefined, currency: undefined, token: undefined });
  });

  it('a rollback is not refused over an odd errorCode', () => {
    expect(message(bet('rollback'))).toMatchObject({ errorCode: 50 });
    for (const errorCode of [undefined, 'null', '"50"', '1.5', '1e300']) {
      expect(message(bet('rollback', { errorCode }))).toMatchObject({ errorCode: undefined });
    }
  });
});

describe('a body that is no message', () => {
  it('is refused with the place where it goes wrong', () => {
    const twice = Buffer.from('{"metadata":[{"coefficient":1,"coefficient":2}]}');
    expect(parseBet('PUT', twice)).toEqual({
      ok: false,
      field: 'metadata.0.coefficient',
      why: 'occurs twice',
    });
    for (const text of ['', '[]', '\ufeff{}', '{"a":1', 'a=1']) {
      expect(fieldOf(parseProfile(Buffer.from(text)))).toBeUndefined();
    }
  });

  it('may name members as it likes', () => {
    const source = body({ ...BETS.place.members, __proto__x: '1', constructor: '{}' });
    const hostile = Buffer.from(source.toString().replace('__proto__x', '__proto__'));
    expect(message(parseBet('POST', hostile)).operation).toBe('place');
    expect(fieldOf(parseProfile(Buffer.from('{"__proto__":{"token":"t"}}')))).toBe('token');
  });
});
