import { expect } from 'vitest';
import { parse } from 'yaml';
import type { Certificate } from '../../../src/certify/certificate/certificate.ts';
import { dialectSchema } from '../../../src/config/schema/schema.ts';
import type { Dialect } from '../../../src/wallets/wallet-config.ts';
import { certification, ids, sandbox } from './certification.ts';
import type { Mistake } from './mistake.ts';

/** As in the operator's file; empty if nothing is suggested. */
export type Written = Readonly<Record<string, unknown>>;

/** The operator's file after every suggestion was adopted. */
export function written({ suggestions }: Certificate): Written {
  const items: Written[] = suggestions.map(({ yaml }) => parse(yaml));
  return Object.assign({}, ...items);
}

/** The same, as the gateway reads it. */
export function takenOver(certificate: Certificate): Dialect {
  return dialectSchema.parse(written(certificate));
}

/**
 * Expects a certificate to suggest exactly this dialect, and the wallet to pass with it.
 * @param again the certified wallet's mistake, for another wallet that makes it
 */
export async function letsItPass(
  first: Certificate,
  dialect: Written,
  again: Mistake,
): Promise<void> {
  expect(written(first)).toEqual(dialect);
  if (first.suggestions.length === 0) return;
  expect(ids(first, 'failed')).not.toEqual([]);
  expect(first.withheld).toEqual([]);
  // It was tried before it was printed.
  expect(first.verification).toMatchObject({ dialect, stillFailing: [] });
  expect(first.verification?.passedAfter).toBeGreaterThan(first.counts.passed);
  for (const { cases, why } of first.suggestions) {
    expect(cases.length).toBeGreaterThan(0);
    expect(why).not.toBe('');
  }
  // All others were already run with it; here it is read from the file.
  const only = ids(first, 'failed');
  const second = await certification(await sandbox(again), { dialect: takenOver(first), only });
  expect(ids(second, 'failed')).toEqual([]);
  expect(second.suggestions).toEqual([]);
  expect(second.verdict).toBe('fit_with_dialect');
}
