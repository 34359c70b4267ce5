import type { RecordedCall } from './calls/recorded-call.ts';
import { scriptOf } from './calls/reproduction.ts';
import type { Display } from './case-run.ts';
import type { CaseResult } from './certificate/certificate.ts';
import { RULES } from './rules.ts';

/** What to do if a wallet did not answer its first call correctly. */
export const NOT_BEGUN_ADVICE =
  'Answer POST /user/profile to a signed request with a live token by HTTP 200 and the profile, ' +
  'a JSON object in UTF-8, not compressed, with nothing before or behind it; check address, secret and token on both ' +
  'sides.';

/** The result in the certificate of a wallet that gave no profile: the calls that show it. */
export function neverBegun(
  why: string,
  calls: readonly RecordedCall[],
  { redaction, origin, variables }: Display,
): CaseResult {
  for (const recorded of calls) recorded.wanted = { kind: 'success' };
  const said = redaction.ownText(calls);
  return {
    id: 'first-profile',
    group: 'profile',
    title: 'The wallet answers its first call, a profile',
    rule: RULES.profile,
    expected: '200 with the profile of the test player',
    verdict: 'failed',
    meaning: 'costs_money',
    reasons: [redaction.text(why), ...(said ? [said] : [])],
    seen: calls.map((recorded) => redaction.seen(recorded)),
    seenLeftOut: 0,
    calls: calls.map((recorded) => redaction.shown(origin, recorded)),
    script: redaction.text(scriptOf(origin, calls, variables)),
    balance: null,
    durationMs: Math.round(calls.reduce((sum, { ms }) => sum + ms, 0)),
  };
}
