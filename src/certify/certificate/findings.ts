import type { Dialect } from '../../wallets/wallet-config.ts';
import { FOLLOWS_LATE } from '../trial/balance-lag.ts';
import { bySeverity, isBlocking, MEANING_WORDS } from '../trial/failure-meaning.ts';
import type { CaseResult, Finding, Fitness, RunEnding } from './certificate.ts';

export interface FindingsOptions {
  readonly results: readonly CaseResult[];
  readonly adviceOf: (caseId: string) => string;
  /** The cases that each suggested item fixes. */
  readonly mends: ReadonlyMap<keyof Dialect, readonly string[]>;
}

/** What comes before a case's own advice where the reason says little about its subject. */
const GENERAL_ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /no answer \(connection (?:reset|closed|broken) /,
    'A connection broke where an answer was due: let answers end before you close, announce a close with ' +
      '`Connection: close`, and keep idle connections open for more than 4 s; then run the case again. If ' +
      'the call itself makes the wallet fail:',
  ],
  [
    /no answer \(no (?:complete )?answer within /,
    'No answer came in time. Serve connections beside one another, or close each after its answer; let more ' +
      'than 50 wait to be taken, and end each answer by its Content-Length or a last chunk; then run the case ' +
      'again. If the call itself takes so long:',
  ],
  [
    /^place should be accepted: HTTP \d+ with \w+ (?:9|1[1-6])$/,
    'The code says that this player may not bet, or not so much: lift blocks and limits of the test player, ' +
      'who bets from 1 unit to the whole balance; then run the case again. If the code means something else:',
  ],
  [
    /^place should be accepted: HTTP (?:422\b|4\d\d with \w+ 5$)/,
    'The wallet refused the form of a proper place; its own words say why. A number may be written 1 as well ' +
      'as 1.0, a member may be null or missing where the protocol says so, and further ones are ignored. If it ' +
      'means something else:',
  ],
  [
    /should be (?:accepted|refused|confirmed): HTTP 5\d\d/,
    'The wallet failed: its log says at what. If it fails only beside other calls, its database gave a ' +
      'transaction up (a deadlock, a lock that took too long): begin that transaction again, before you answer. ' +
      'Otherwise:',
  ],
  [
    new RegExp(FOLLOWS_LATE),
    'The balance was right only some seconds later, so that nothing about money can be judged: read it from ' +
      'the database that you write to, past caches and copies, and book a bet before you answer; then run the ' +
      'cases again. Otherwise:',
  ],
];

function generalAdvice(reason: string): readonly string[] {
  const [, advice] = GENERAL_ADVICE.find(([pattern]) => pattern.test(reason)) ?? [];
  return advice === undefined ? [] : [advice];
}

/** What is wrong with the wallet, the worst first. */
export function findingsOf({ results, adviceOf, mends }: FindingsOptions): readonly Finding[] {
  const found = results.flatMap((result): readonly Finding[] => {
    const { id, verdict, meaning, title, reasons } = result;
    if (verdict !== 'failed' && verdict !== 'warned') return [];
    const mendedBy = [...mends].flatMap(([item, cases]) => (cases.includes(id) ? [item] : []));
    return [
      {
        case: id,
        verdict,
        meaning: meaning ?? 'absorbed',
        title,
        what: reasons[0] ?? '',
        advice: adviceText(
          [...generalAdvice(reasons[0] ?? ''), adviceOf(id)].join(' '),
          mendedBy,
          verdict === 'failed' && isBlocking(meaning ?? 'absorbed'),
        ),
        mendedBy,
      },
    ];
  });
  const rank = { failed: 0, warned: 1 };
  return found.sort(
    (a, b) => bySeverity(a.meaning, b.meaning) || rank[a.verdict] - rank[b.verdict],
  );
}

function adviceText(advice: string, mendedBy: readonly string[], matters: boolean): string {
  if (mendedBy.length === 0) return matters ? `${advice} No dialect mends it.` : advice;
  return `Take the suggested ${mendedBy.join(' and ')} into wallet.dialect; or change the wallet: ${advice}`;
}

export interface FitnessOptions {
  readonly findings: readonly Finding[];
  readonly ending: RunEnding;
  /** Items in force that change how answers are read or calls are made. */
  readonly hasDialect: boolean;
  /** The results with the suggested dialect in force; undefined if none is suggested. */
  readonly verified: readonly CaseResult[] | undefined;
}

export function fitnessOf(options: FitnessOptions): Fitness {
  const { findings, ending, hasDialect, verified } = options;
  // Cases that were not tried cannot have passed.
  if (ending !== 'finished') return 'not_fit';
  if (!findings.some(isInTheWay)) return hasDialect ? 'fit_with_dialect' : 'fit';
  const isMended = verified?.every(
    ({ verdict, meaning }) => verdict !== 'failed' || meaning === null || !isBlocking(meaning),
  );
  return isMended === true ? 'fit_with_dialect' : 'not_fit';
}

function isInTheWay({ verdict, meaning }: Finding): boolean {
  return verdict === 'failed' && isBlocking(meaning);
}

const ENDED: Readonly<Record<Exclude<RunEnding, 'finished'>, string>> = {
  interrupted: 'the run was stopped before its end',
  silent: 'the wallet stopped answering',
  not_begun: 'the wallet gave no profile, so nothing was tried',
};

/** The verdict in a sentence. */
export function fitnessSummary(
  fitness: Fitness,
  findings: readonly Finding[],
  ending: RunEnding,
  complete: boolean,
): string {
  const partly = complete || ending !== 'finished' ? '' : ' Only some of the cases were run.';
  if (fitness === 'fit') return `Fit: the gateway can call this wallet as it is.${partly}`;
  if (fitness === 'fit_with_dialect') {
    return `Fit with this dialect: the gateway can call this wallet as long as the dialect stands in the operator's file.${partly}`;
  }
  const unmended = findings.filter((one) => isInTheWay(one) && one.mendedBy.length === 0);
  const meanings = [...Map.groupBy(unmended, ({ meaning }) => meaning)].map(
    ([meaning, ones]) => `${ones.length} × ${MEANING_WORDS[meaning]}`,
  );
  const why = [...(ending === 'finished' ? [] : [ENDED[ending]]), ...meanings];
  return `Not fit: ${why.join('; ') || 'see the findings'}.${partly}`;
}
