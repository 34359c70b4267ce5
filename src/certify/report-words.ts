import { sameAmount } from '../domain/amount.ts';
import {
  type CaseResult,
  type Certificate,
  GROUPS,
  type Group,
  type Verdict,
} from './certificate.ts';

/** Beside the colours, for those who do not see them. */
export const VERDICT_MARKS: Readonly<Record<Verdict, string>> = {
  passed: '✓',
  failed: '✗',
  warned: '!',
  skipped: '–',
};

/** `Passed: 118 of 121 cases, 2 with a warning, 1 skipped`. */
export function headline({ result, counts, complete }: Certificate): string {
  const total = counts.passed + counts.failed + counts.warned + counts.skipped;
  const said = [
    `${counts.passed} of ${total} cases passed`,
    ...(counts.failed === 0 ? [] : [`${counts.failed} failed`]),
    ...(counts.warned === 0 ? [] : [`${counts.warned} with a warning`]),
    ...(counts.skipped === 0 ? [] : [`${counts.skipped} skipped`]),
  ];
  const whole = complete ? '' : ' (not every group was run to its end)';
  return `${result === 'passed' ? 'Passed' : 'Failed'}: ${said.join(', ')}${whole}`;
}

/** What the run left of the test player's money. */
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
