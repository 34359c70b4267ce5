import { canonicalAmount, subtractAmounts } from '../../domain/amount.ts';
import type { Dialect } from '../../wallets/wallet-config.ts';
import { CASES } from '../cases/index.ts';
import type { CertificationOptions } from '../certification.ts';
import type { Verified } from '../dialect/verification.ts';
import { NOT_BEGUN_ADVICE } from '../not-begun.ts';
import type { Passed } from '../pass.ts';
import { isEverything } from '../selection.ts';
import type { Examination } from '../trial/sandbox.ts';
import {
  type CaseResult,
  CERTIFICATE_SCHEMA,
  type Certificate,
  countsOf,
  GROUPS,
  type RunEnding,
  type Suggestion,
  type Verification,
} from './certificate.ts';
import { sealed } from './digest.ts';
import { findingsOf, fitnessOf, fitnessSummary } from './findings.ts';

/** All facts that a run has found. */
export interface RunFacts {
  readonly options: CertificationOptions;
  readonly first: Passed;
  readonly ending: RunEnding;
  readonly examined: Extract<Examination, { kind: 'ready' }> | undefined;
  readonly verified: Verified | undefined;
  /** The player's money at the end, decimal text; undefined if it was not read. */
  readonly after: string | undefined;
  /** ISO 8601 UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly callCount: number;
}

export function composeCertificate(facts: RunFacts): Certificate {
  const { options, first, ending, examined, verified, after } = facts;
  const { settings, only, player, other, strict, operator, version } = options;
  const { results } = first;
  const mends = verified?.mends ?? new Map<keyof Dialect, readonly string[]>();
  const adviceOf = (id: string) => CASES.find((one) => one.id === id)?.advice ?? NOT_BEGUN_ADVICE;
  const findings = findingsOf({ results, adviceOf, mends });
  const verdict = fitnessOf({
    findings,
    ending,
    hasDialect: isRelaxed(settings.dialect) || examined?.needsLegacySign === true,
    verified: verified?.passed && withLater(results, verified.passed.results),
  });
  const complete = isEverything(only) && ending === 'finished';
  return sealed({
    schemaVersion: CERTIFICATE_SCHEMA,
    kit: { name: 'wagergate', version, node: process.versions.node },
    verdict,
    summary: fitnessSummary(verdict, findings, ending, complete),
    findings,
    suggestions: (verified?.suggestions ?? []).map((one) => ofThisRun(one, results)),
    withheld: verified?.withheld ?? [],
    verification: verified === undefined ? null : verificationOf(first, verified),
    ending,
    complete,
    operator,
    wallet: withoutCredentials(settings.baseUrl),
    adapter: settings.adapter,
    dialect: withoutHeaders(settings.dialect),
    strict,
    player: { userId: player.userId, currency: player.currency },
    otherPlayer: other?.userId ?? null,
    sandbox: {
      isTest: examined?.isTest === true,
      overridden: examined !== undefined && !examined.isTest,
    },
    startedAt: facts.startedAt,
    durationMs: facts.durationMs,
    groups: GROUPS.filter((name) => results.some(({ group }) => group === name)),
    callCount: facts.callCount,
    counts: countsOf(results),
    money: moneyOf(examined?.balance, after),
    cases: results,
  });
}

/** Limits a suggestion's cases to those that ran: if only some were selected, others may show an item too. */
function ofThisRun(suggestion: Suggestion, results: readonly CaseResult[]): Suggestion {
  const cases = suggestion.cases.filter((id) => results.some((result) => result.id === id));
  return { ...suggestion, cases };
}

/** Paths and headers say where to call; any other item relaxes what is required of a wallet. */
function isRelaxed({ paths: _paths, headers: _headers, ...items }: Dialect): boolean {
  return Object.values(items).some((value) => value !== undefined);
}

function verificationOf(first: Passed, { passed, dialect }: Verified): Verification | null {
  if (passed === undefined) return null;
  const results = withLater(first.results, passed.results);
  const tried = new Set(
    first.results.flatMap(({ id, verdict }) => (verdict === 'skipped' ? [] : [id])),
  );
  const spared = results.filter(({ id, verdict }) => verdict === 'skipped' && tried.has(id));
  return {
    dialect: withoutHeaders(dialect),
    passedBefore: countsOf(first.results).passed,
    passedAfter: countsOf(results).passed + spared.length,
    spared: spared.length,
    stillFailing: results.flatMap(({ id, verdict }) => (verdict === 'failed' ? [id] : [])),
  };
}

/** The results of a run, replaced by those of a later one for cases that ran again. */
function withLater(
  first: readonly CaseResult[],
  later: readonly CaseResult[],
): readonly CaseResult[] {
  const again = new Map(later.map((result) => [result.id, result]));
  return first.map((result) => again.get(result.id) ?? result);
}

function moneyOf(before: string | undefined, after: string | undefined): Certificate['money'] {
  const isKnown = before !== undefined && after !== undefined;
  return {
    before: before === undefined ? null : canonicalAmount(before),
    after: after === undefined ? null : canonicalAmount(after),
    difference: isKnown ? subtractAmounts(after, before) : null,
  };
}

function withoutCredentials(baseUrl: string): string {
  const { origin, pathname } = new URL(baseUrl);
  return origin + pathname.replace(/\/$/, '');
}

/** Masks the values of additional headers, which may be keys. */
function withoutHeaders({ headers, ...dialect }: Dialect): Dialect {
  const names = Object.keys(headers ?? {});
  if (names.length === 0) return dialect;
  return { ...dialect, headers: Object.fromEntries(names.map((name) => [name, '***'])) };
}
