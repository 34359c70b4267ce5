import type { Dialect } from '../../wallets/wallet-config.ts';
import type { Case } from '../case.ts';
import type { CaseResult, Suggestion, Verdict, Withheld } from '../certificate/certificate.ts';
import type { Passed } from '../pass.ts';
import { withoutItem } from './suggestions.ts';

/** Suggestions that were tested, with the results. */
export interface Verified {
  readonly suggestions: readonly Suggestion[];
  readonly withheld: readonly Withheld[];
  readonly dialect: Dialect;
  /** The run with all of them in force; undefined if there are none. */
  readonly passed: Passed | undefined;
  /** The cases that each item mends, by item. */
  readonly mends: ReadonlyMap<keyof Dialect, readonly string[]>;
}

export interface VerifyOptions {
  /** The dialect of the first run. */
  readonly base: Dialect;
  readonly first: Passed;
  readonly suggestions: readonly Suggestion[];
  /** The cases that `run` runs. */
  readonly cases: readonly Case[];
  /** `base` with all suggestions. */
  readonly dialect: Dialect;
  /** The first calls were answered only with this item: it stays, even if no case shows the need again. */
  readonly needed: keyof Dialect | undefined;
  /** Runs the cases again; undefined if there is no time for it. */
  readonly run: (dialect: Dialect) => Promise<Passed | undefined>;
}

/** Runs the cases again with the items, and without each: an item stays only if it fixes and breaks nothing. */
export async function verifyDialect(options: VerifyOptions): Promise<Verified> {
  const { base, first, needed, run } = options;
  let { suggestions, dialect } = options;
  const withheld: Withheld[] = [];
  for (;;) {
    if (suggestions.length === 0) return none(base, withheld);
    const mayMend = (item: keyof Dialect) => mendableBy(item, options);
    const mendable = suggestions.map(({ item }) => mayMend(item));
    const isMendable = (id: string) => mendable.some((mends) => mends(id));
    const runAgain = async (tried: Dialect) => {
      const again = await run(tried);
      return again && withoutLuck(first, again, isMendable);
    };
    const passed = await runAgain(dialect);
    if (passed === undefined) {
      withheld.push(...suggestions.map((one) => withhold(one, NO_TIME, [])));
      return none(base, withheld);
    }
    const mends = new Map<keyof Dialect, readonly string[]>();
    const kept: Suggestion[] = [];
    for (const suggestion of suggestions) {
      const { item } = suggestion;
      const without =
        suggestions.length === 1 ? first : await runAgain(withoutItem(dialect, item, base));
      // If there is no time to try without it, the run with all items must do.
      const better = without === undefined ? suggestion.cases : worse(passed, without);
      const mended = better.filter(mayMend(item));
      const broken = without === undefined ? [] : worse(without, passed);
      if (broken.length > 0)
        withheld.push(withhold(suggestion, `it would break ${broken[0]}`, broken));
      else if (mended.length === 0 && item !== needed)
        withheld.push(withhold(suggestion, NO_USE, []));
      else {
        kept.push(suggestion);
        mends.set(item, mended);
      }
    }
    if (kept.length === suggestions.length)
      return { suggestions, withheld, dialect, passed, mends };
    for (const { item } of suggestions) {
      if (!kept.some((one) => one.item === item)) dialect = withoutItem(dialect, item, base);
    }
    suggestions = kept;
  }
}

const NO_TIME = 'it could not be verified: the run had to end before that';
const NO_USE = 'when tried, no case passed for it that fails without it';

function none(base: Dialect, withheld: readonly Withheld[]): Verified {
  return { suggestions: [], withheld, dialect: base, passed: undefined, mends: new Map() };
}

function withhold(
  { item, yaml, why }: Suggestion,
  reason: string,
  cases: readonly string[],
): Withheld {
  return { item, yaml, why: `${why}, but ${reason}`, cases };
}

/** Items that change what is sent. Others only change how answers are read, which moves no money. */
const CHANGES_CALLS: ReadonlySet<keyof Dialect> = new Set([
  'legacySign',
  'alwaysSendToken',
  'stableRequestId',
  'updates',
]);

/** Whether an item can have mended a case that failed in the first run. */
function mendableBy(
  item: keyof Dialect,
  { first, cases }: VerifyOptions,
): (caseId: string) => boolean {
  if (item === 'unknownRepeats') {
    const held = new Set(cases.flatMap(({ id, repeats }) => (repeats === true ? [id] : [])));
    return (id) => held.has(id);
  }
  if (CHANGES_CALLS.has(item)) return () => true;
  const wrong = new Set(
    first.evidence.flatMap(({ caseId, booksWrong }) => (booksWrong ? [caseId] : [])),
  );
  return (id) => !wrong.has(id);
}

/** A later run with the first one's failures that no item can have mended: a lost race is lost again. */
function withoutLuck(
  first: Passed,
  again: Passed,
  isMendable: (caseId: string) => boolean,
): Passed {
  const failed = new Map(
    first.results.flatMap((one) => (one.verdict === 'failed' ? [[one.id, one]] : [])),
  );
  const results = again.results.map((one) => {
    const before = isMendable(one.id) ? undefined : failed.get(one.id);
    return before ?? one;
  });
  return { ...again, results };
}

/** A case skipped because of the dialect is as good as passed: the gateway then makes no such call. */
const RANKS: Readonly<Record<Verdict, number>> = { passed: 0, skipped: 0, warned: 1, failed: 2 };

/** Cases that ended worse in the second run than in the first. */
function worse(first: Passed, second: Passed): readonly string[] {
  const before = new Map(first.results.map((result) => [result.id, result]));
  const isWorse = (after: CaseResult) => {
    const known = before.get(after.id);
    return known !== undefined && RANKS[after.verdict] > RANKS[known.verdict];
  };
  return second.results
    .filter(isWorse)
    .map(({ id }) => id)
    .sort();
}
