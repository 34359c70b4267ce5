import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/wallets/wallet-config.ts';
import { betCall } from '../support/calls.ts';
import { adapter, verdict } from '../support/verdicts.ts';

const declined = (code: number) => ({ kind: 'declined', code });

describe('rollbackConfirmedBy', () => {
  const dialect: Dialect = { rollbackConfirmedBy: [5], errorStatuses: { 404: 1 }, okCodes: [0] };

  it('confirms a rollback by those codes in a JSON body, as code 8', () => {
    expect(verdict(dialect, 'rollback', 400, { code: 5 })).toMatchObject(declined(8));
    expect(verdict(dialect, 'rollback', 404, { code: 5 })).toMatchObject(declined(8));
    expect(verdict(dialect, 'rollback', 200, { code: 5 })).toMatchObject(declined(8));
  });

  it('confirms nothing by a status alone, by 100, or for another operation', () => {
    const all: Dialect = { rollbackConfirmedBy: [5, 100], errorStatuses: { 404: 5 } };
    expect(verdict(all, 'rollback', 404, '<html>')).toMatchObject(declined(5));
    expect(verdict(all, 'rollback', 400, { code: 100 })).toMatchObject(declined(100));
    expect(verdict(all, 'rollback', 500, { code: 5 })).toMatchObject({ kind: 'unknown' });
    expect(verdict(all, 'settle', 400, { code: 5 })).toMatchObject(declined(5));
  });

  it('says why a code of the list has not confirmed one', () => {
    const all: Dialect = { rollbackConfirmedBy: [5], errorStatuses: { 404: 5 } };
    const alone = { ...declined(5), message: 'HTTP status 404 alone confirms no rollback' };
    expect(verdict(all, 'rollback', 404, '<html>')).toEqual(alone);
    expect(verdict(all, 'rollback', 404, { code: 404, message: 'Not Found' })).toEqual(alone);

    const call = betCall({ operation: 'rollback', transactionId: 't1', hadResult: true });
    const body = Buffer.from('{"code":5,"message":"no"}');
    expect(adapter(all).betVerdict(call, { status: 400, body })).toEqual({
      ...declined(5),
      message: 'code 5 confirms no rollback of a bet that has had a result',
    });

    const refused = { ...declined(7), message: 'no' };
    expect(verdict(all, 'rollback', 400, { code: 7, message: 'no' })).toEqual(refused);
    expect(verdict(all, 'settle', 404, '<html>')).toMatchObject({
      message: 'Refused by the operator',
    });
  });
});
