import { sameAmount } from '../../domain/amount.ts';
import {
  type CaseResult,
  type Certificate,
  type Fitness,
  GROUPS,
  type Group,
  type Verdict,
} from '../certificate/certificate.ts';

/** Marks in addition to the colours, for people who do not see them. */
export const VERDICT_MARKS: Readonly<Record<Verdict, string>> = {
  passed: '✓',
  failed: '✗',
  warned: '!',
  skipped: '–',
};

/** The colour of the verdict's box, named like the verdicts of cases. */
export const FITNESS_COLOURS: Readonly<Record<Fitness, Verdict>> = {
  fit: 'passed',
  fit_with_dialect: 'warned',
  not_fit: 'failed',
};

/** `118 of 121 cases passed, 2 with a warning, 1 skipped`. */
export function countsLine({ counts }: Certificate): string {
  const total = counts.passed + counts.failed + counts.warned + counts.skipped;
  const said = [
    `${counts.passed} of ${total} cases passed`,
    ...(counts.failed === 0 ? [] : [`${counts.failed} failed`]),
    ...(counts.warned === 0 ? [] : [`${counts.warned} with a warning`]),
    ...(counts.skipped === 0 ? [] : [`${counts.skipped} skipped`]),
  ];
  return said.join(', ');
}

/** `with this: 79 → 113 passed`, and what still fails. */
export function verificationLine({ verification }: Certificate): string {
  if (verification === null) return '';
  const { passedBefore, passedAfter, spared, stillFailing } = verification;
  const moot = spared === 0 ? '' : ` (${spared} no longer arise)`;
  const rest =
    stillFailing.length === 0 ? '' : `; it does not mend ${stillFailing.slice(0, 5).join(', ')}`;
  const more = stillFailing.length > 5 ? ` and ${stillFailing.length - 5} more` : '';
  return `With this: ${passedBefore} → ${passedAfter} passed${moot}${rest}${more}`;
}

/** How the run changed the test player's money. */
export function moneyLine({ money, player }: Certificate): string {
  const { before, after, difference } = money;
  if (before === null || after === null || difference === null) return 'the balance was not read';
  if (sameAmount(difference, '0')) return `${after} ${player.currency}, as before`;
  return `${after} ${player.currency}, ${before} before: a difference of ${difference}`;
}

/** The cases of each group that ran, in the groups' order. */
export function casesByGroup(
  cases: readonly CaseResult[],
): readonly (readonly [Group, readonly CaseResult[]])[] {
  return GROUPS.map((name) => [name, cases.filter((one) => one.group === name)] as const).filter(
    ([, ofGroup]) => ofGroup.length > 0,
  );
}

/** `place` as `Place`. */
export function titleOf(group: string): string {
  return group.slice(0, 1).toUpperCase() + group.slice(1);
}
