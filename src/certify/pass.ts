import type { Clock } from '../domain/clock.ts';
import type { Dialect, WalletSettings } from '../wallets/wallet-config.ts';
import type { ServiceCaller } from './calls/caller.ts';
import type { RecordedCall } from './calls/recorded-call.ts';
import type { Case } from './case.ts';
import { type Display, runCase } from './case-run.ts';
import type { CaseResult } from './certificate/certificate.ts';
import type { Evidence } from './dialect/suggestions.ts';
import { Trial } from './trial/trial.ts';
import type { TrialContext } from './trial/trial-context.ts';

/** The first case; it fails if nothing is accepted without the older header. */
export const LEGACY_SIGN_CASE = 'signature-good';

export interface PassOptions extends Omit<TrialContext, 'record'> {
  readonly clock: Clock;
  readonly display: Display;
  /** Called before each case. */
  readonly onCase?: (one: Case) => void;
  readonly onResult?: (result: CaseResult) => void;
}

/** What running cases once has shown. */
export interface Passed {
  readonly results: readonly CaseResult[];
  readonly evidence: readonly Evidence[];
  readonly record: readonly RecordedCall[];
}

/**
 * Runs cases once, one after the other: they share the player's money.
 * @param settings the wallet's; `alwaysSendToken` is added if a case shows the need
 * @param needsLegacySign the first calls were answered only with x-sign
 */
export async function runPass(
  options: PassOptions,
  cases: readonly Case[],
  settings: WalletSettings,
  needsLegacySign: boolean,
): Promise<Passed> {
  const { clock, display, onCase, onResult, ...context } = options;
  const { caller, signal } = context;
  const record: RecordedCall[] = [];
  const evidence: Evidence[] = [];
  const results: CaseResult[] = [];
  let spoken = settings;
  const speak = (dialect: Dialect) => {
    spoken = { ...spoken, dialect: { ...spoken.dialect, ...dialect } };
    caller.connection.adopt(spoken);
  };
  speak(needsLegacySign ? { legacySign: true } : {});
  for (const one of cases) {
    onCase?.(one);
    const trial = new Trial({ ...context, record }, one.meaning);
    if (one.id === LEGACY_SIGN_CASE && needsLegacySign) {
      trial.fail('nothing is accepted unless the header x-sign is sent as well');
    }
    const skipped = whyNotTried(one, caller, signal);
    const result = await runCase(one, trial, { clock, display, skipped, signal });
    results.push(result);
    onResult?.(result);
    const { recordedCalls, booksWrong, booksProven, triedItems } = trial;
    evidence.push({ caseId: one.id, recordedCalls, booksWrong, booksProven, triedItems });
    // So that the other cases get answers too.
    if (triedItems.some(({ dialect }) => dialect.alwaysSendToken === true)) {
      speak({ alwaysSendToken: true });
    }
  }
  return { results, evidence, record };
}

const SILENT = 'too many calls were left without an answer: not asked further';
const HELD = 'the dialect says unknownRepeats: hold, so the gateway sends none again';

function whyNotTried(
  one: Case,
  { connection }: ServiceCaller,
  signal: AbortSignal,
): string | undefined {
  if (signal.aborted) return 'stopped before it began';
  if (connection.isSilent) return SILENT;
  const { holdUnknownRepeats } = connection.adapter.callerDialect;
  return one.repeats === true && holdUnknownRepeats ? HELD : undefined;
}
