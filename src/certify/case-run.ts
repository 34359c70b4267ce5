import type { Clock } from '../domain/clock.ts';
import type { RecordedCall } from './calls/recorded-call.ts';
import type { Redaction } from './calls/redact.ts';
import { scriptOf, type Variable } from './calls/reproduction.ts';
import type { Case } from './case.ts';
import type { CaseResult } from './certificate/certificate.ts';
import type { Trial } from './trial/trial.ts';
import { NoBalance, Skipped } from './trial/trial-context.ts';

/** The most calls of a case that the certificate lists; some cases make a hundred. */
const SEEN_MAX = 12;

/** How calls are shown to readers of the report. */
export interface Display {
  readonly redaction: Redaction;
  /** Scheme, host and port of the wallet. */
  readonly origin: string;
  readonly variables: readonly Variable[];
  /** Every case's calls in full, not only those of cases that failed. */
  readonly verbose: boolean;
}

export interface CaseRunOptions {
  readonly clock: Clock;
  readonly display: Display;
  /** Why it is not tried at all. */
  readonly skipped: string | undefined;
  /** When aborted, the case ends with what it has so far. */
  readonly signal: AbortSignal;
}

/** Runs one case and gives back its stakes and payouts, whatever happened. */
export async function runCase(
  one: Case,
  trial: Trial,
  { clock, display, skipped: notTried, signal }: CaseRunOptions,
): Promise<CaseResult> {
  const startedAtMs = clock.monotonicMs();
  const skipped = notTried ?? (await attempt(one, trial, signal));
  const { redaction } = display;
  const { id, group, title, rule, expected } = one;
  const { recordedCalls, books } = trial;
  const seen = recordedCalls.slice(0, SEEN_MAX).map((recorded) => redaction.seen(recorded));
  const verdict = skipped === undefined ? trial.verdict : 'skipped';
  const reasons = skipped === undefined ? trial.reasons : [skipped];
  const said = verdict === 'failed' ? redaction.ownText(recordedCalls) : undefined;
  const isNotable = verdict === 'failed' || verdict === 'warned';
  const shown = isNotable || display.verbose ? trial.shown : [];
  return {
    id,
    group,
    title,
    rule,
    expected,
    verdict,
    meaning: isNotable ? (trial.meaning ?? one.meaning) : null,
    reasons: [...reasons.map((reason) => redaction.text(reason)), ...(said ? [said] : [])],
    seen,
    seenLeftOut: recordedCalls.length - seen.length,
    calls: shown.map((recorded) => redaction.shown(display.origin, recorded)),
    script: scriptOrNull(display, shown),
    balance: books,
    durationMs: Math.round(clock.monotonicMs() - startedAtMs),
  };
}

function scriptOrNull(
  { redaction, origin, variables }: Display,
  calls: readonly RecordedCall[],
): string | null {
  // Redacted once more: secrets that are no variables, such as one in a dialect's path, stay out too.
  return calls.length === 0 ? null : redaction.text(scriptOf(origin, calls, variables));
}

/** @returns why the case was skipped */
async function attempt(one: Case, trial: Trial, signal: AbortSignal): Promise<string | undefined> {
  try {
    if (one.money) await trial.open();
    await one.run(trial);
    return undefined;
  } catch (error) {
    if (error instanceof Skipped) return error.message;
    if (signal.aborted) return 'stopped in the middle of it';
    if (!(error instanceof NoBalance)) throw error;
    trial.failToServe(error.message);
    return undefined;
  } finally {
    await trial.cleanUp();
  }
}
