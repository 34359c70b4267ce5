import type { Group } from './certificate.ts';
import type { FailureMeaning } from './failure-meaning.ts';
import type { Trial } from './trial.ts';

/** One thing that a wallet must do; it notes on its trial what it finds. */
export interface Case {
  /** Stable: certificates are compared by it. */
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  /** The rule itself, in words: whoever reads the report may have no repository at hand. */
  readonly rule: string;
  readonly expected: string;
  /** What its failure means, where nothing else is said of one reason. */
  readonly meaning: FailureMeaning;
  /** What the wallet's developer has to change. */
  readonly advice: string;
  /** Whether the balance is read before: everything that should or should not move money. */
  readonly money: boolean;
  /** It sends a settle or unsettle again, which a gateway under `unknownRepeats: hold` never does. */
  readonly repeats?: boolean;
  /** It judges the answers to calls of other cases. */
  readonly judgesAnswers?: boolean;
  readonly run: (trial: Trial) => Promise<void>;
}

type Usual = Pick<Case, 'rule' | 'money' | 'meaning'>;

/** What a case says of itself; its group and what is usual there stand once for the whole file. */
export type CaseText = Omit<Case, 'group' | keyof Usual> & Partial<Usual>;

/** The cases of one group. */
export function group(name: Group, usual: Usual, cases: readonly CaseText[]): readonly Case[] {
  return cases.map((one) => ({ ...usual, ...one, group: name }));
}
