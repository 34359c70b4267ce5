import type { Clock } from '../domain/clock.ts';
import type { Case } from './case.ts';
import type { CaseResult } from './certificate.ts';
import type { Redaction } from './redact.ts';
import { NoBalance, Skipped, type Trial } from './trial.ts';

/** Calls of a case that the certificate shows; some cases make a hundred. */
const SEEN_MAX = 12;

export interface CaseRunOptions {
  readonly clock: Clock;
  readonly redaction: Redaction;
  /** Why it is not tried at all. */
  readonly skipped: string | undefined;
}

/**
 * Runs one case and gives back what it had on the table, whatever happened.
 * @throws the reason for which the whole run is to stop
 */
export async function runCase(
  one: Case,
  trial: Trial,
  { clock, redaction, skipped: notTried }: CaseRunOptions,
): Promise<CaseResult> {
  const startedAtMs = clock.monotonicMs();
  const skipped = notTried ?? (await attempt(one, trial));
  const { id, group, title, rule, expected } = one;
  const { sightings, books } = trial;
  const seen = sightings.slice(0, SEEN_MAX).map((sighting) => redaction.seen(sighting));
  const reasons = skipped === undefined ? trial.reasons : [skipped];
  return {
    id,
    group,
    title,
    rule,
    expected,
    verdict: skipped === undefined ? trial.verdict : 'skipped',
    reasons: reasons.map((reason) => redaction.text(reason)),
    seen,
    seenLeftOut: sightings.length - seen.length,
    ...(books === undefined ? {} : { balance: books }),
    durationMs: Math.round(clock.monotonicMs() - startedAtMs),
  };
}

/** @returns why the case was skipped */
async function attempt(one: Case, trial: Trial): Promise<string | undefined> {
  try {
    if (one.money) await trial.open();
    await one.run(trial);
    return undefined;
  } catch (error) {
    if (error instanceof Skipped) return error.message;
    if (!(error instanceof NoBalance)) throw error;
    trial.fail(error.message);
    return undefined;
  } finally {
    await trial.cleanUp();
  }
}
