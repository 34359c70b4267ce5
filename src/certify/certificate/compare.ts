import { sameAmount } from '../../domain/amount.ts';
import type { Certificate, Verdict } from './certificate.ts';

export interface CaseChange {
  readonly case: string;
  /** Null if the run did not have the case. */
  readonly before: Verdict | null;
  readonly after: Verdict | null;
  /** The reason, according to the later run. */
  readonly why: string;
}

/** What changed between two runs. */
export interface Comparison {
  readonly verdict: {
    readonly before: Certificate['verdict'];
    readonly after: Certificate['verdict'];
  };
  readonly better: readonly CaseChange[];
  readonly worse: readonly CaseChange[];
  /** Cases that only one of the runs has. */
  readonly other: readonly CaseChange[];
  /** What makes the runs hard to compare, in words. */
  readonly notes: readonly string[];
}

const RANKS: Readonly<Record<Verdict, number>> = { passed: 0, warned: 1, skipped: 2, failed: 3 };

export function compareCertificates(before: Certificate, after: Certificate): Comparison {
  const changes = changesOf(before, after);
  const ranked = (sign: 1 | -1) =>
    changes.filter(
      (one) =>
        one.before !== null &&
        one.after !== null &&
        Math.sign(RANKS[one.after] - RANKS[one.before]) === sign,
    );
  return {
    verdict: { before: before.verdict, after: after.verdict },
    better: ranked(-1),
    worse: ranked(1),
    other: changes.filter((one) => one.before === null || one.after === null),
    notes: notesOf(before, after),
  };
}

function changesOf(before: Certificate, after: Certificate): readonly CaseChange[] {
  const ids = new Set([...before.cases, ...after.cases].map(({ id }) => id));
  return [...ids].flatMap((id) => {
    const old = before.cases.find((one) => one.id === id);
    const now = after.cases.find((one) => one.id === id);
    if (old?.verdict === now?.verdict) return [];
    const why = now?.reasons[0] ?? '';
    return [{ case: id, before: old?.verdict ?? null, after: now?.verdict ?? null, why }];
  });
}

function notesOf(before: Certificate, after: Certificate): readonly string[] {
  const facts: readonly (readonly [string, string, string])[] = [
    ['wallet', before.wallet, after.wallet],
    ['player', before.player.userId, after.player.userId],
    ['currency', before.player.currency, after.player.currency],
    ['second player', before.otherPlayer ?? 'none', after.otherPlayer ?? 'none'],
    ['dialect', JSON.stringify(before.dialect), JSON.stringify(after.dialect)],
    ['version of the kit', before.kit.version, after.kit.version],
  ];
  const differing = facts
    .filter(([, old, now]) => old !== now)
    .map(([name, old, now]) => `another ${name}: ${old} before, ${now} now`);
  const partial = [before, after].some(({ complete }) => !complete);
  const { difference } = after.money;
  return [
    ...differing,
    ...(partial ? ['not every case was run in both'] : []),
    ...(difference !== null && !sameAmount(difference, '0')
      ? [`the later run left a difference of ${difference} ${after.player.currency}`]
      : []),
  ];
}
