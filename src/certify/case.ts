import type { Group } from './certificate.ts';
import type { Trial } from './trial.ts';

/** One thing that a wallet must do; it notes on its trial what it finds. */
export interface Case {
  /** Stable: certificates are compared by it. */
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  /** Document and section that the rule comes from. */
  readonly rule: string;
  readonly expected: string;
  /** Whether the balance is read before: everything that should or should not move money. */
  readonly money: boolean;
  readonly run: (trial: Trial) => Promise<void>;
}

/** What a case says of itself; its group and the usual rule stand once for the whole file. */
export type CaseText = Omit<Case, 'group' | 'rule' | 'money'> &
  Partial<Pick<Case, 'rule' | 'money'>>;

/** The cases of one group. */
export function group(
  name: Group,
  usual: { readonly rule: string; readonly money: boolean },
  cases: readonly CaseText[],
): readonly Case[] {
  return cases.map((one) => ({ ...usual, ...one, group: name }));
}
