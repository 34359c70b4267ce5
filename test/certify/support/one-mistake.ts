import { expect } from 'vitest';
import type { Fitness } from '../../../src/certify/certificate/certificate.ts';
import { FAILURE_MEANINGS } from '../../../src/certify/trial/failure-meaning.ts';
import { certification, ids, sandbox, second } from './certification.ts';
import type { Mistake } from './mistake.ts';
import { letsItPass, type Written } from './suggested-dialect.ts';

export interface Row {
  readonly wallet: string;
  readonly mistake: Mistake;
  readonly failed: readonly string[];
  readonly warned?: readonly string[];
  readonly verdict?: Fitness;
  /** The suggestions that are expected and make it fit: `{}` for none; not checked unless given. */
  readonly dialect?: Written;
  /** Play these instead of its own: which dialect is suggested depends on others as well. */
  readonly played?: readonly string[];
  /** In addition to a second player. */
  readonly other?: true;
}

/**
 * Certifies the wallet and expects exactly the row's failures and warnings, and its dialect as the suggestion. Only
 * the row's own cases are played, which takes a tenth of the time; a good wallet fails none of the others.
 */
export async function failsItsCases({
  mistake,
  failed,
  warned = [],
  dialect,
  verdict = Object.keys(dialect ?? {}).length > 0 ? 'fit_with_dialect' : 'not_fit',
  other,
  played = [...failed, ...warned],
}: Row): Promise<void> {
  const wallet = await sandbox(mistake);
  const wishes = { only: played, ...(other !== undefined && { other: second(wallet) }) };
  const certificate = await certification(wallet, wishes);
  expect({ failed: ids(certificate, 'failed'), warned: ids(certificate, 'warned') }).toEqual({
    failed,
    warned,
  });
  expect(certificate.verdict).toBe(verdict);
  // Every finding has advice, and the worst comes first.
  expect(certificate.findings.map((one) => one.case).sort()).toEqual([...failed, ...warned].sort());
  const ranks = certificate.findings.map(({ meaning }) => FAILURE_MEANINGS.indexOf(meaning));
  expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
  for (const { advice } of certificate.findings) expect(advice).toMatch(/.{20,}\.$/);
  if (dialect !== undefined) await letsItPass(certificate, dialect, mistake);
}
