import type { Clock } from '../../domain/clock.ts';
import type { Dialect, WalletSettings } from '../../wallets/wallet-config.ts';
import type { WalletConnection } from '../calls/wallet-connection.ts';
import type { Case } from '../case.ts';
import type { Suggestion } from '../certificate/certificate.ts';
import type { Passed } from '../pass.ts';
import { holdItem, LEGACY_SIGN_FOUND, stableRequestIdItem } from './repeated-items.ts';
import { type Evidence, Suggestions } from './suggestions.ts';
import { type Verified, verifyDialect } from './verification.ts';

/** No further run starts that would not end by then: without it a dialect stays untried, and the wallet not fit. */
const RUN_MS_MAX = 75_000;

/** What is needed to try a dialect on the wallet under certification. */
export interface DialectTrial {
  readonly settings: WalletSettings;
  readonly clock: Clock;
  /** When aborted, no further dialect is tried. */
  readonly signal: AbortSignal;
  readonly connection: WalletConnection;
  /** All cases of the run. */
  readonly cases: readonly Case[];
  /** When the run began, on the monotonic clock. */
  readonly startedAtMs: number;
  /** Plays cases with a dialect in force. */
  readonly play: (dialect: Dialect, cases: readonly Case[]) => Promise<Passed>;
}

/** Finds items for the dialect, and tries them on the wallet. @param first the run with the operator's own */
export async function tryDialect(
  trial: DialectTrial,
  first: Passed,
  needsLegacySign: boolean,
): Promise<Verified> {
  const found = [...(needsLegacySign ? [LEGACY_SIGN_FOUND] : []), ...stableRequestIdItem(first)];
  const verified = await tryWith(trial, first, found);
  // If repeats pay twice even so, none must be sent.
  const held = holdItem(verified.passed ?? first);
  return held.length === 0 ? verified : await tryWith(trial, first, [...found, ...held]);
}

async function tryWith(
  trial: DialectTrial,
  first: Passed,
  found: readonly Evidence[],
): Promise<Verified> {
  const { settings, clock, signal, connection } = trial;
  const suggestions = new Suggestions(settings, clock, [...first.evidence, ...found]);
  const list = suggestions.list();
  const cases = casesToRepeat(trial, first, list);
  let longestMs = msOf(first, cases);
  const verified = await verifyDialect({
    base: settings.dialect,
    first,
    suggestions: list,
    cases,
    dialect: suggestions.dialect,
    needed: found.includes(LEGACY_SIGN_FOUND) ? 'legacySign' : undefined,
    run: async (dialect) => {
      const begunAtMs = clock.monotonicMs();
      const isLate = begunAtMs - trial.startedAtMs + longestMs > RUN_MS_MAX;
      if (isLate || signal.aborted || connection.isSilent) return undefined;
      const passed = await trial.play(dialect, cases);
      longestMs = Math.max(longestMs, clock.monotonicMs() - begunAtMs);
      return signal.aborted || connection.isSilent ? undefined : passed;
    },
  });
  // The last reading of the balance may need the dialect to be answered.
  connection.adopt({ ...settings, dialect: suggestions.dialect });
  return { ...verified, withheld: [...suggestions.withheld(), ...verified.withheld] };
}

/** All cases that do not differ each time, or, if time is short, only those that may end differently. */
function casesToRepeat(
  { cases, clock, startedAtMs }: DialectTrial,
  first: Passed,
  suggestions: readonly Suggestion[],
): readonly Case[] {
  const all = cases.filter(({ byChance }) => byChance !== true);
  const elapsedMs = clock.monotonicMs() - startedAtMs;
  if (elapsedMs + (1 + suggestions.length) * msOf(first, all) < RUN_MS_MAX) return all;
  const notable = new Set([
    ...first.results.flatMap(({ id, verdict }) => (verdict === 'passed' ? [] : [id])),
    ...suggestions.flatMap((one) => one.cases),
  ]);
  return all.filter(({ id, judgesAnswers }) => notable.has(id) || judgesAnswers === true);
}

/** How long cases have taken. */
function msOf({ results }: Passed, cases: readonly Case[]): number {
  const ids = new Set(cases.map(({ id }) => id));
  return results.reduce((sum, { id, durationMs }) => sum + (ids.has(id) ? durationMs : 0), 0);
}
