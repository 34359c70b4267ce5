import { OPERATIONS, type Operation } from '../../domain/operation.ts';
import type { Dialect } from '../../wallets/wallet-config.ts';
import type { FailureMeaning } from '../trial/failure-meaning.ts';

/** Increased whenever a reader of older certificates would misunderstand a newer one. */
export const CERTIFICATE_SCHEMA = 2;

/**
 * Groups in the order in which they run. Currencies come late, because a wallet that counts in
 * binary floats leaves noise in the balance; shape comes last, because it judges all answers.
 */
export const GROUPS = [
  'signatures',
  ...OPERATIONS,
  'freebet',
  'latency',
  'currencies',
  'shape',
] as const;

export type Group = (typeof GROUPS)[number];

/**
 * `failed`: violates the protocol. `warned`: odd, or against mere advice of the protocol, and the
 * gateway copes with it without any setting. `skipped`: not tried, for the reason given.
 */
export const VERDICTS = ['passed', 'failed', 'warned', 'skipped'] as const;
export type Verdict = (typeof VERDICTS)[number];

/**
 * The result of the whole run: whether the wallet may go live behind the gateway, as it is or with the
 * dialect that the certificate names.
 */
export const FITNESS = ['fit', 'fit_with_dialect', 'not_fit'] as const;
export type Fitness = (typeof FITNESS)[number];

/** How a run ended. `silent`: the wallet stopped answering; `not_begun`: it never did. */
export const ENDINGS = ['finished', 'interrupted', 'silent', 'not_begun'] as const;
export type RunEnding = (typeof ENDINGS)[number];

/** One call to the wallet in short, without tokens, secrets and signatures. */
export interface SeenCall {
  readonly operation: Operation;
  /** HTTP status; null if no answer came. */
  readonly status: number | null;
  /** The beginning of the body, or why there is none. */
  readonly answer: string;
  /** Milliseconds from the call until the last byte. */
  readonly ms: number;
}

/** One call with everything sent and received, except tokens, secrets and signatures. */
export interface ShownCall {
  readonly operation: Operation;
  /** ISO 8601 UTC. */
  readonly at: string;
  readonly ms: number;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  /** Null if none came; then the reason is in `error`. */
  readonly answer: {
    readonly status: number;
    readonly body: string;
    readonly truncated: boolean;
  } | null;
  readonly error: string | null;
}

export interface CaseResult {
  readonly id: string;
  readonly group: Group;
  readonly title: string;
  /** The protocol's rule, in words. */
  readonly rule: string;
  readonly expected: string;
  readonly verdict: Verdict;
  /** The meaning of its failure or warning; null for other verdicts. */
  readonly meaning: FailureMeaning | null;
  /** Why it failed, warned or was skipped; for a passed case, remarks. */
  readonly reasons: readonly string[];
  /** Every call in short; a dozen at most. */
  readonly seen: readonly SeenCall[];
  /** Calls of this case beyond those in `seen`. */
  readonly seenLeftOut: number;
  /** For a case that failed or warned: every call in full. */
  readonly calls: readonly ShownCall[];
  /** The same calls as lines for a shell, with the secret and the tokens as variables. */
  readonly script: string | null;
  /** Decimal text from `/user/balance`; null if the case is not about money. */
  readonly balance: { readonly before: string; readonly after: string } | null;
  readonly durationMs: number;
}

/** A case that failed or warned, with what to do about it. */
export interface Finding {
  readonly case: string;
  readonly verdict: 'failed' | 'warned';
  readonly meaning: FailureMeaning;
  readonly title: string;
  /** What was seen, in a sentence. */
  readonly what: string;
  /** What the wallet's developer, or the aggregator, must change. */
  readonly advice: string;
  /** Items of the dialect with which the case passes; empty if none fixes it. */
  readonly mendedBy: readonly string[];
}

/** An item of `wallet.dialect` with which the gateway understands the wallet's answers. */
export interface Suggestion {
  readonly item: keyof Dialect;
  /** What to write in the operator's file, as YAML of the item alone. */
  readonly yaml: string;
  readonly why: string;
  /** Cases that showed the deviation. */
  readonly cases: readonly string[];
}

/** An item that looked helpful but must not be used. */
export interface Withheld {
  readonly item: keyof Dialect;
  readonly yaml: string;
  readonly why: string;
  /** Cases that it would hide or break. */
  readonly cases: readonly string[];
}

/** The result of the second run, with all suggested items in force. */
export interface Verification {
  readonly dialect: Dialect;
  /** Cases that passed without and with the items; those that no longer arise included. */
  readonly passedBefore: number;
  readonly passedAfter: number;
  /** Cases that no longer arise, because the gateway then makes no such call. */
  readonly spared: number;
  /** Cases that still fail. */
  readonly stillFailing: readonly string[];
}

/** What `certificate.json` holds. */
export interface Certificate {
  readonly schemaVersion: typeof CERTIFICATE_SCHEMA;
  /** `sha256:` and the hash of this document without this member, as compact JSON. */
  readonly digest: string;
  readonly kit: { readonly name: 'wagergate'; readonly version: string; readonly node: string };
  readonly verdict: Fitness;
  /** The verdict in a sentence. */
  readonly summary: string;
  /** Worst first. */
  readonly findings: readonly Finding[];
  readonly suggestions: readonly Suggestion[];
  readonly withheld: readonly Withheld[];
  readonly verification: Verification | null;
  readonly ending: RunEnding;
  /** False if only some cases were requested, or the run was cut short. */
  readonly complete: boolean;
  readonly operator: string;
  /** Address of the wallet, without credentials. */
  readonly wallet: string;
  readonly adapter: string;
  /** The dialect that was applied; empty under `--strict`. */
  readonly dialect: Dialect;
  readonly strict: boolean;
  readonly player: { readonly userId: string; readonly currency: string };
  /** The second player, if one was named. */
  readonly otherPlayer: string | null;
  /** `isTest` of the profile, and whether the run went on without it. */
  readonly sandbox: { readonly isTest: boolean; readonly overridden: boolean };
  /** ISO 8601 UTC. */
  readonly startedAt: string;
  readonly durationMs: number;
  readonly groups: readonly Group[];
  readonly callCount: number;
  readonly counts: Readonly<Record<Verdict, number>>;
  /** The test player's money, decimal text; null if it could not be read. */
  readonly money: {
    readonly before: string | null;
    readonly after: string | null;
    /** `after - before`. */
    readonly difference: string | null;
  };
  readonly cases: readonly CaseResult[];
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
