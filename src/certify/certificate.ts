import type { Operation } from '../domain/operation.ts';
import type { Dialect } from '../wallets/wallet-config.ts';

/** Raised whenever a reader of older certificates would misunderstand a newer one. */
export const CERTIFICATE_SCHEMA = 1;

/**
 * Groups in the order in which they run. Currencies come late, because a wallet that counts in
 * binary floats leaves noise in the balance; shape comes last, because it judges all answers.
 */
export const GROUPS = [
  'signatures',
  'profile',
  'balance',
  'place',
  'settle',
  'unsettle',
  'rollback',
  'update',
  'freebet',
  'latency',
  'currencies',
  'shape',
] as const;

export type Group = (typeof GROUPS)[number];

/**
 * `failed`: against the protocol. `warned`: odd, or against what the protocol only advises, and
 * survived by the gateway without any setting. `skipped`: not tried, for the reason given.
 */
const VERDICTS = ['passed', 'failed', 'warned', 'skipped'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** One call to the wallet as the certificate shows it: without tokens, secrets and signatures. */
export interface SeenCall {
  readonly operation: Operation;
  /** HTTP status; null where no answer came. */
  readonly status: number | null;
  /** The beginning of the body, or why there is none. */
  readonly answer: string;
  /** Milliseconds from the call until the last byte. */
  readonly ms: number;
}

export interface CaseResult {
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  /** Where the rule stands: document and section. */
  readonly rule: string;
  readonly expected: string;
  readonly verdict: Verdict;
  /** Why it failed, warned or was skipped; on a passed one, remarks. */
  readonly reasons: readonly string[];
  readonly seen: readonly SeenCall[];
  /** Calls of this case beyond those in `seen`. */
  readonly seenLeftOut: number;
  /** Decimal text, by `/user/balance`; absent where no money was at stake. */
  readonly balance?: { readonly before: string; readonly after: string };
  readonly durationMs: number;
}

/** Items of `wallet.dialect` under which the gateway understands what the wallet answered. */
export interface Suggestion {
  readonly item: keyof Dialect;
  /** What to write in the operator's file, as YAML of the item alone. */
  readonly yaml: string;
  readonly why: string;
  /** Cases that showed the deviation. */
  readonly cases: readonly string[];
}

/** What `certificate.json` holds. */
export interface Certificate {
  readonly schemaVersion: typeof CERTIFICATE_SCHEMA;
  readonly result: 'passed' | 'failed';
  /** False where only some groups ran, or the run was cut short. */
  readonly complete: boolean;
  readonly operator: string;
  /** Address of the wallet, without credentials. */
  readonly wallet: string;
  readonly adapter: string;
  /** The dialect that was applied; empty under `--strict`. */
  readonly dialect: Dialect;
  readonly strict: boolean;
  readonly player: { readonly userId: string; readonly currency: string };
  /** `isTest` of the profile, and whether the run went on without it. */
  readonly sandbox: { readonly isTest: boolean; readonly overridden: boolean };
  /** ISO 8601 UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly wagergate: string;
  readonly node: string;
  readonly groups: readonly Group[];
  readonly calls: number;
  readonly counts: Readonly<Record<Verdict, number>>;
  /** The test player's money, decimal text; null where it could not be read. */
  readonly money: {
    readonly before: string | null;
    readonly after: string | null;
    /** `after - before`. */
    readonly difference: string | null;
  };
  readonly cases: readonly CaseResult[];
  readonly suggestions: readonly Suggestion[];
}

/** How many cases ended in each verdict. */
export function countsOf(cases: readonly CaseResult[]): Readonly<Record<Verdict, number>> {
  const count = (verdict: Verdict) => cases.filter((one) => one.verdict === verdict).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    warned: count('warned'),
    skipped: count('skipped'),
  };
}
