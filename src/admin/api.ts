import type { SettingChange } from '../config/settings-diff.ts';
import type { ResultItem } from '../store/bets/unknown-results.ts';
import type { DifferenceItem } from '../store/reconciliation/difference-item.ts';
import type { ReconciliationItem } from '../store/reconciliation/run-item.ts';
import type { Probed } from '../wallets/probe.ts';

/**
 * The answers of the admin API, by route: shared by the handlers and the console's pages.
 * Times are ISO 8601 UTC, amounts decimal text. Lists come newest first unless said otherwise;
 * `nextCursor` is null on the last page. Errors are `{code, message}`.
 *
 * POST bodies are JSON and take an optional `reason` (at most 2,000 characters), kept in the audit.
 */
export interface AdminApi {
  readonly 'GET /admin/operators': {
    readonly items: readonly OperatorItem[];
    /** Operators with open deliveries or bets but no file; empty while PostgreSQL does not answer. */
    readonly withoutFile: readonly (OpenItems & { readonly id: string })[];
    /** As readiness has them. */
    readonly dependencies: {
      readonly postgresql: 'up' | 'down' | 'read_only';
      readonly redis: 'up' | 'down' | 'read_only';
    };
  };
  readonly 'GET /admin/operators/:id': OperatorPage;
  /** Body `{reason}`: refused (409) if the operator is held already. */
  readonly 'POST /admin/operators/:id/deliveries/hold': HoldAnswer;
  readonly 'POST /admin/operators/:id/deliveries/resume': HoldAnswer;
  /** The result of the last certification (`certify --out`); 404 if there is no file. */
  readonly 'GET /admin/operators/:id/certificate': {
    readonly verdict: 'fit' | 'fit_with_dialect' | 'not_fit';
    readonly summary: string;
    readonly startedAt: string;
    /** Whether every case was tried. */
    readonly complete: boolean;
    /** The wallet that was tested; often a sandbox. */
    readonly wallet: string;
    readonly counts: Readonly<Record<string, number>>;
    /** Worst first. */
    readonly findings: readonly {
      readonly case: string;
      readonly title: string;
      readonly meaning: string;
      readonly advice: string;
    }[];
  };
  /** Sends its wallet a signed balance request for a player who does not exist; moves no money. */
  readonly 'POST /admin/operators/:id/probe': Probed;
  /** `?operator=&operatorUser=&userId=&transactionId=&state=&amount=&from=&to=&cursor=`, 50 a page. */
  readonly 'GET /admin/bets': Page<BetItem>;
  /**
   * Body `{holds: stake | result, amount, resultType, by, reason}`: what the wallet's own books hold for a bet whose
   * result is unknown. 409 if it is not, while a call may still change that, or if the service was answered 200 for it.
   */
  readonly 'POST /admin/bets/:transactionId/resolve': ResultItem;
  /** What a reload would change now, and the problems in the configuration folder. */
  readonly 'GET /admin/config/preview': ConfigurationPreview;
  /** Body `{generation}`: bets of generations up to it are sent to the present wallet. */
  readonly 'POST /admin/operators/:id/release': { readonly generation: number };
  /** Body `{templates}`, the service's ids as text: makes them the operator's own, all or none. */
  readonly 'POST /admin/operators/:id/templates/assign': {
    readonly assigned: readonly string[];
    /** Those that the operator owned before. */
    readonly unchanged: readonly string[];
  };
  /** `?operator=&state=&operation=`: how many deliveries a bulk retry with this filter would read. */
  readonly 'GET /admin/deliveries/count': {
    readonly count: number;
    /** Present only if counting reached its time limit, so that there may be more. */
    readonly isAtLeast?: true;
  };
  /**
   * Body `{operator, state, operation?, limit?, cursor?}`. At most `limit` are read (default and maximum:
   * 10,000); `nextCursor` continues after them, so that a client can show progress.
   */
  readonly 'POST /admin/deliveries/retry': {
    readonly retried: number;
    /** Null: that was all. If no `limit` was given, present only if there may be more. */
    readonly nextCursor?: string | null;
  };
  /** `?userId=`, or `?operator=&operatorUser=`: at most one. */
  readonly 'GET /admin/players': { readonly items: readonly PlayerItem[] };
  readonly 'GET /admin/players/:userId': PlayerPage;
  readonly 'POST /admin/players/:userId/sessions/revoke': { readonly revoked: number };
  /** One JSON object per line (`application/x-ndjson`): `{player}`, then `{bet}` for each bet. */
  readonly 'POST /admin/players/:userId/export': unknown;
  /** Refused (409) while a bet of the player is open. */
  readonly 'POST /admin/players/:userId/forget': {
    readonly bets: number;
    readonly messages: number;
    readonly attempts: number;
  };
  /** `?actor=&action=&operator=&from=&to=&cursor=`, 100 a page. */
  readonly 'GET /admin/audit': Page<AuditItem>;
  /** The same query without `cursor`: the whole audit, one JSON object per line (`application/x-ndjson`). */
  readonly 'GET /admin/audit/export': unknown;
  /**
   * `?operator=&from=&to=&columns=`, the body a list of bets (CSV or NDJSON, optionally gzipped) of any
   * length. Answers 202 once it is read; `GET` with the returned id says whether it could be compared.
   */
  readonly 'POST /admin/reconciliations': { readonly id: string };
  /** `?operator=&cursor=`, 50 a page. */
  readonly 'GET /admin/reconciliations': Page<ReconciliationItem>;
  readonly 'GET /admin/reconciliations/:id': ReconciliationItem;
  /** `?kind=&resolved=&cursor=`, 100 a page, in the list's order. 409 unless it is done. */
  readonly 'GET /admin/reconciliations/:id/differences': Page<DifferenceItem>;
  /** Body `{reason}`. Also applies to later runs that find the same difference; 409 if resolved already. */
  readonly 'POST /admin/reconciliations/:id/differences/:difference/resolve': DifferenceItem;
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

type ByClass<T> = Readonly<Record<'read' | 'money', T>>;

interface Hold {
  readonly since: string;
  readonly actor: string;
  readonly reason: string | null;
}

interface HoldAnswer {
  readonly operator: string;
  readonly hold: Hold | null;
}

/** The open deliveries and bets of one operator. */
interface OpenItems {
  /** Null while PostgreSQL does not answer. */
  readonly openDeliveries: number | null;
  /** How many of those have the state `held`. */
  readonly heldDeliveries: number | null;
  /** When the oldest waiting promise was made; null if there is none. */
  readonly oldestDelivery: string | null;
  readonly deadDeliveries: number | null;
  readonly unresolvedBets: number | null;
  /** The counts that are lower bounds, because counting has not finished. */
  readonly countsAtLeast: readonly ('openDeliveries' | 'deadDeliveries' | 'unresolvedBets')[];
}

interface OperatorItem extends OpenItems {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'maintenance' | 'suspended';
  readonly currencies: readonly string[];
  readonly sessions: { readonly mode: 'issued' | 'prefixed' };
  readonly breaker: ByClass<'closed' | 'half_open' | 'open'>;
  readonly inFlight: ByClass<number>;
  /** A person's override of a breaker; `auto` is none. */
  readonly override: ByClass<'closed' | 'open' | 'auto'>;
  /** Whether a person holds its deliveries; null also while nobody knows, and `openDeliveries` is null. */
  readonly hold: Hold | null;
  /** Summed over the processes behind this port; null if nothing was counted yet. */
  readonly recently: {
    /** The period counted, at most some five minutes. */
    readonly seconds: number;
    readonly callbacks: number;
    readonly unknown: number;
    /** Answered later than the 5 s that the service waits. */
    readonly late: number;
    readonly walletCalls: number;
    readonly walletFailures: number;
  } | null;
}

interface OperatorPage extends OperatorItem {
  /** As in `GET /admin/config`. */
  readonly settings: Readonly<Record<string, string | { readonly secrets: readonly string[] }>>;
  /** Of the whole configuration: when it was last valid, and whether the files there are in force. */
  readonly lastReload: { readonly goodAt: string; readonly result: 'ok' | 'invalid' };
  /** One item per minute of at most the last hour, oldest first. */
  readonly lastHour: readonly OperatorMinute[];
}

/** The counts of one minute, summed over the processes behind this port. */
interface OperatorMinute {
  readonly at: string;
  readonly callbacks: number;
  readonly declined: number;
  readonly unknown: number;
  /** Answered later than the 5 s that the service waits. */
  readonly late: number;
  readonly walletCalls: number;
  readonly walletFailures: number;
  readonly rejected: number;
  /** Mean duration of the wallet's answers, milliseconds; null if it gave none. */
  readonly walletMeanMs: number | null;
}

interface ConfigurationPreview {
  readonly result: 'ok' | 'invalid';
  readonly problems: readonly {
    readonly file: string;
    readonly path: string;
    /** From 1; null if the problem is the whole file, or a conflict between two files. */
    readonly line: number | null;
    readonly reason: string;
  }[];
  /** All of them; `problems` lists at most a hundred. */
  readonly problemCount: number;
  readonly gateway: readonly SettingChange[];
  readonly operators: readonly {
    readonly id: string;
    readonly kind: 'added' | 'removed' | 'changed';
    readonly settings: readonly SettingChange[];
    /** What a person should know before it comes into force. */
    readonly warnings: readonly string[];
  }[];
}

interface BetItem {
  readonly transactionId: string;
  readonly operator: string | null;
  /** Null for roles without personal data. */
  readonly operatorUser: string | null;
  readonly userId: string | null;
  readonly state: string;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly settlement: { readonly amount: string | null; readonly resultType: string | null };
  readonly createdAt: string;
}

interface PlayerItem {
  readonly userId: string;
  readonly operator: string;
  readonly operatorUser: string;
  readonly createdAt: string;
}

interface PlayerPage extends PlayerItem {
  /** At most the latest 100. */
  readonly sessions: readonly {
    readonly id: string;
    readonly currency: string;
    readonly createdAt: string;
    readonly expiresAt: string;
    readonly endedAt: string | null;
    readonly endedReason: string | null;
  }[];
  /** By currency; freebets are counted like other bets here. */
  readonly totals: readonly {
    readonly currency: string;
    readonly bets: number;
    readonly open: number;
    /** Of accepted bets that are not rolled back. */
    readonly stakes: string;
    readonly payouts: string;
  }[];
}

interface AuditItem {
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly role: string;
  readonly address: string;
  readonly action: string;
  /** What the action was applied to, such as `delivery 4711`. */
  readonly subject: string;
  readonly operator: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly reason: string | null;
}
