import type { Group } from './certificate/certificate.ts';
import type { FailureMeaning } from './trial/failure-meaning.ts';
import type { Trial } from './trial/trial.ts';

/** One requirement of a wallet; a case notes its findings on its trial. */
export interface Case {
  /** Stable, because certificates are compared by it. */
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  /** The rule itself, in words: readers of the report may not have the repository at hand. */
  readonly rule: string;
  readonly expected: string;
  /** What its failure means, unless a reason says otherwise. */
  readonly meaning: FailureMeaning;
  /** What the wallet's developer must change. */
  readonly advice: string;
  /** Whether the balance is read first: true for all cases in which money should, or must not, move. */
  readonly money: boolean;
  /** It sends a settle or unsettle again, which a gateway under `unknownRepeats: hold` never does. */
  readonly repeats?: boolean;
  /** It judges the answers to calls of other cases. */
  readonly judgesAnswers?: boolean;
  /** What it sees differs from run to run, whatever the dialect: to try one it is not run again. */
  readonly byChance?: boolean;
  readonly run: (trial: Trial) => Promise<void>;
}

type Usual = Pick<Case, 'rule' | 'money' | 'meaning'> & Partial<Pick<Case, 'byChance'>>;

/** What each case defines itself; its group and the usual values are given once for the whole file. */
export type CaseText = Omit<Case, 'group' | keyof Usual> & Partial<Usual>;

/** Cases that share an advice, unless they have one of their own. */
export function advised(
  advice: string,
  cases: readonly (Omit<CaseText, 'advice'> & { readonly advice?: string })[],
): readonly CaseText[] {
  return cases.map((one) => ({ advice, ...one }));
}

/** The cases of one group. */
export function group(name: Group, usual: Usual, cases: readonly CaseText[]): readonly Case[] {
  return cases.map((one) => ({ ...usual, ...one, group: name }));
}
