import { canonicalAmount } from '../../domain/amount.ts';
import {
  DIFFERENCE_KINDS,
  type DifferenceKind,
  differenceBetween,
  differenceReason,
  isExpectedThere,
  type JournalBet,
  type ListedBet,
  type ListedDays,
  listedHere,
  type PrunedBet,
  prunedReason,
} from '../../domain/reconciliation.ts';
import type { Compared, ListRow } from '../../store/reconciliation/compare-statement.ts';
import type { FoundDifference, ListedThere } from '../../store/reconciliation/difference-item.ts';
import type { DifferenceCounts } from '../../store/reconciliation/run-item.ts';

/** How many copies are shown of a bet that a list contains several times. */
const COPIES_SHOWN = 10;

/** What the journal (`here`) and the operator's list (`there`) say about one transactionId. */
export interface BetPair {
  readonly transactionId: string;
  readonly here: JournalBet | undefined;
  readonly pruned: PrunedBet | undefined;
  /** The first of their lines. */
  readonly there: readonly ListRow[];
  /** How many of their lines could be read; `isUnreadable`: at least one could not. */
  readonly copies: number;
  readonly isUnreadable: boolean;
}

/** Groups the lines of each transactionId, which arrive consecutively. */
export class Pairs {
  #open: BetPair | undefined;

  /** @returns the pairs completed by this page */
  take(page: readonly Compared[]): BetPair[] {
    const whole: BetPair[] = [];
    for (const one of page) {
      if (this.#open?.transactionId === one.transactionId) {
        this.#open = withLine(this.#open, one.there);
        continue;
      }
      if (this.#open !== undefined) whole.push(this.#open);
      const { transactionId, here, pruned } = one;
      const begun = { transactionId, here, pruned, there: [], copies: 0, isUnreadable: false };
      this.#open = withLine(begun, one.there);
    }
    return whole;
  }

  end(): BetPair[] {
    return this.#open === undefined ? [] : [this.#open];
  }
}

function withLine(pair: BetPair, line: ListRow | undefined): BetPair {
  if (line === undefined) return pair;
  if (line.isUnreadable) return { ...pair, isUnreadable: true };
  const there = pair.there.length < COPIES_SHOWN ? [...pair.there, line] : pair.there;
  return { ...pair, there, copies: pair.copies + 1 };
}

/** The difference between both lists for one transactionId: at most one is reported. */
export function differenceOf(pair: BetPair, days: ListedDays): FoundDifference | undefined {
  const { transactionId, here, copies } = pair;
  const [line] = pair.there;
  const kind = kindOf(pair, days);
  if (kind === undefined) return undefined;
  return {
    kind,
    transactionId,
    here: here === undefined ? null : listedHere(here),
    there: line === undefined ? null : listedThere(pair.there, copies),
    line: line?.line ?? null,
    reason: reasonOf(pair, kind, days) ?? null,
  };
}

function reasonOf({ here, pruned }: BetPair, kind: DifferenceKind, days: ListedDays) {
  if (here !== undefined) return differenceReason(kind, here, days);
  return pruned === undefined ? undefined : prunedReason(pruned);
}

function kindOf(
  { here, there: [line], copies, isUnreadable }: BetPair,
  days: ListedDays,
): DifferenceKind | undefined {
  if (copies > 1) return 'duplicate_there';
  if (line === undefined) {
    // The list has it in an unreadable line, which is reported separately.
    if (isUnreadable || here === undefined) return undefined;
    return isExpectedThere(here, days) ? 'missing_there' : undefined;
  }
  return here === undefined ? 'missing_here' : differenceBetween(listedHere(here), line);
}

function listedThere(lines: readonly ListRow[], copies: number): ListedThere | null {
  const [first, ...others] = lines.map(words);
  if (first === undefined) return null;
  return copies > 1 ? { ...first, copies, others } : first;
}

function words({ currency, stake, payout, state }: ListRow): ListedBet {
  const amount = (text: string | null) => (text === null ? null : canonicalAmount(text));
  return { currency, stake: amount(stake), payout: amount(payout), state };
}

/** The running counts of a run. */
export class FoundTally {
  readonly #counts = new Map<DifferenceKind, number>();
  /** How many transactionIds of the list differ. */
  #differThere = 0;

  /** @returns how many of this kind have been found so far */
  add({ kind, there }: Pick<FoundDifference, 'kind' | 'there'>): number {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    if (there !== null) this.#differThere += 1;
    return count;
  }

  /** @param listed how many distinct transactionIds the list contains */
  counts(listed: number): DifferenceCounts {
    const of = (kind: DifferenceKind) => this.#counts.get(kind) ?? 0;
    const kinds = DIFFERENCE_KINDS.map((kind) => [kind, of(kind)] as const);
    return {
      agree: listed - this.#differThere,
      ...(Object.fromEntries(kinds) as Record<DifferenceKind, number>),
    };
  }
}
