import { describe, expect, it } from 'vitest';
import {
  answerFor,
  done,
  refused,
  systemError,
  UNAVAILABLE,
  unavailable,
} from '../../../src/operations/answers.ts';

const AT = '2026-01-02T03:04:05.000Z';

describe('what callbacks answer', () => {
  it('is a refusal with its code, by default that of an invalid message', () => {
    const answer = { status: 400, body: '{"code":5,"message":"amount: odd"}' };
    expect(refused(5, 'amount: odd', 'alpha')).toEqual({
      answer,
      outcome: 'invalid',
      operatorId: 'alpha',
      detail: { code: 5, reason: 'amount: odd' },
    });
    expect(refused(5, 'amount: odd', undefined, 'conflict').outcome).toBe('conflict');
  });

  it('is 400 with code 100 to a place, which the service rolls back', () => {
    const body = '{"code":100,"message":"System error"}';
    expect(systemError('unknown', 'alpha')).toEqual({
      answer: { status: 400, body },
      outcome: 'unknown',
      operatorId: 'alpha',
      detail: {},
    });
    expect(systemError('not_sent', undefined, { reason: 'rate' }).detail).toEqual({
      reason: 'rate',
    });
  });

  it('is 503 for everything else that was not delivered, which the service repeats', () => {
    expect(UNAVAILABLE).toEqual({ status: 503, body: '{"code":100,"message":"System error"}' });
    expect(unavailable('not_sent', 'alpha', { reason: 'breaker' })).toEqual({
      answer: UNAVAILABLE,
      outcome: 'not_sent',
      operatorId: 'alpha',
      detail: { reason: 'breaker' },
    });
    expect(unavailable('error', undefined).detail).toEqual({});
  });

  it('is a success with the transaction and its time', () => {
    expect(done('bet', AT, 'taken_over', 'alpha', { walletMs: 3 })).toEqual({
      answer: { status: 200, body: `{"transactionId":"bet","transactionTime":"${AT}"}` },
      outcome: 'taken_over',
      operatorId: 'alpha',
      detail: { walletMs: 3 },
    });
    expect(done('bet', AT, 'accepted', undefined).detail).toEqual({});
  });

  it('is what was concluded, and nothing where nothing is certain (I2)', () => {
    expect(answerFor('bet', undefined)).toBeUndefined();
    expect(answerFor('bet', { kind: 'accepted', transactionTime: AT })).toEqual(
      done('bet', AT, 'accepted', undefined).answer,
    );
    expect(answerFor('bet', { kind: 'refused', code: 7, message: 'No money' })).toEqual({
      status: 400,
      body: '{"code":7,"message":"No money"}',
    });
  });
});
