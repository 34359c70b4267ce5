import type { Clock } from '../domain/clock.ts';
import type { Dialect, WalletSettings } from '../wallets/wallet-config.ts';
import type { Case } from './case.ts';
import type { Suggestion } from './certificate.ts';
import type { Passed } from './pass.ts';
import { holdItem, LEGACY_SIGN_FOUND, stableRequestIdItem } from './repeated-items.ts';
import { type Evidence, Suggestions } from './suggestions.ts';
import { type Verified, verifyDialect } from './verification.ts';
import type { WalletConnection } from './wallet-connection.ts';

/** No further run of the cases begins that would not be over by then: a dialect that is not tried leaves it unfit. */
const RUN_MS_MAX = 75_000;

/** What it takes to try a dialect on the wallet that is being certified. */
export interface DialectTrial {
  readonly settings: WalletSettings;
  readonly clock: Clock;
  /** Aborted: no further dialect is tried. */
  readonly signal: AbortSignal;
  readonly connection: WalletConnection;
  /** All cases of the run. */
  readonly cases: readonly Case[];
  /** When the run began, on the monotonic clock. */
  readonly startedAtMs: number;
  /** Plays cases with a dialect in force. */
  readonly play: (dialect: Dialect, cases: readonly Case[]) => Promise<Passed>;
}

/**
 * Finds what to put into the dialect, and tries it on the wallet.
 * @param first the run of all cases with the operator's own dialect
 */
export async function tryDialect(
  trial: DialectTrial,
  first: Passed,
  needsLegacySign: boolean,
): Promise<Verified> {
  const found = [...(needsLegacySign ? [LEGACY_SIGN_FOUND] : []), ...stableRequestIdItem(first)];
  const verified = await tryWith(trial, first, found);
  // Repeats that pay twice even so: then none is to be sent.
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
  // The last look at the money needs to be let in.
  connection.adopt({ ...settings, dialect: suggestions.dialect });
  return { ...verified, withheld: [...suggestions.withheld(), ...verified.withheld] };
}

/**
 * All cases where there is time for it, but for latency, which is another matter each time. Else those that may end
 * otherwise: the others were read alike with and without the items.
 */
function casesToRepeat(
  { cases, clock, startedAtMs }: DialectTrial,
  first: Passed,
  suggestions: readonly Suggestion[],
): readonly Case[] {
  const all = cases.filter(({ group }) => group !== 'latency');
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
