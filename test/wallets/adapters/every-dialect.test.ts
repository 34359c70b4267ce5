import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/wallets/wallet-config.ts';
import { verdict } from '../support/verdicts.ts';

const place = (dialect: Dialect, status: number, body: unknown) =>
  verdict(dialect, 'place', status, body);

const UNKNOWN = { kind: 'unknown' };

describe('every dialect', () => {
  const code = fc.integer({ min: 0, max: 110 });
  const codes = fc.uniqueArray(code, { maxLength: 4 });
  const status = fc.integer({ min: 200, max: 599 });
  const codeMap = fc.dictionary(code.map(String), code, { maxKeys: 4 });
  const anyDialect: fc.Arbitrary<Dialect> = fc.record(
    {
      successStatuses: fc.uniqueArray(status, { maxLength: 4 }),
      errorStatuses: fc.dictionary(status.map(String), code, { maxKeys: 6 }),
      okCodes: codes,
      mapCodes: fc.record({ place: codeMap, rollback: codeMap }),
      unknownCodes: codes,
      echo: fc.constantFrom('check' as const, 'ignore' as const),
      emptyOk: fc.boolean(),
      rollbackConfirmedBy: codes,
    },
    { requiredKeys: [] },
  );
  const anyBody = fc.oneof(
    fc.constantFrom('', '{}', '<html>', 'null', '[]'),
    code.map((value) => JSON.stringify({ code: value })),
    code.map((value) => JSON.stringify({ code: value, transactionId: 't1' })),
  );
  const operation = fc.constantFrom('place' as const, 'settle' as const, 'rollback' as const);

  it('leaves a status of 500 or above unknown (I2)', () => {
    const failing = fc.integer({ min: 500, max: 599 });
    fc.assert(
      fc.property(anyDialect, operation, failing, anyBody, (dialect, which, above, body) => {
        expect(verdict(dialect, which, above, body)).toMatchObject(UNKNOWN);
      }),
    );
  });

  it('makes no decline of a place of the code 100, nor another code of it (I2)', () => {
    const body = fc.constantFrom('{"code":100}', '{"code":100,"transactionId":"t1"}');
    fc.assert(
      fc.property(anyDialect, operation, status, body, (dialect, which, any, text) => {
        const result = verdict(dialect, which, any, text);
        if (which === 'place') expect(result.kind).not.toBe('declined');
        if (result.kind === 'declined') expect(result.code).toBe(100);
      }),
    );
  });

  it('declines no place with a code that leaves it open (I2)', () => {
    fc.assert(
      fc.property(anyDialect, status, anyBody, (dialect, any, body) => {
        const result = place(dialect, any, body);
        if (result.kind === 'declined') expect([8, 10, 100]).not.toContain(result.code);
      }),
    );
  });
});
