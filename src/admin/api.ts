import type { SettingChange } from '../config/settings-diff.ts';
import type { DifferenceItem } from '../store/reconciliation/difference-item.ts';
import type { ReconciliationItem } from '../store/reconciliation/run-item.ts';
import type { Probed } from '../wallets/probe.ts';

/**
 * What the admin API answers, by route: for the handlers that make it and the pages that show it.
 * Times are ISO 8601 UTC, amounts decimal text. Lists come newest first unless said otherwise;
 * `nextCursor` is null on the last page. Errors are `{code, message}`.
 *
 * POST bodies are JSON and take an optional `reason` (at most 2,000 characters), kept in the audit.
 */
export interface AdminApi {
  readonly 'GET /admin/operators': {
    readonly items: readonly OperatorItem[];
    /** Operators that have something open and no file; none while PostgreSQL does not answer. */
    readonly withoutFile: readonly (OpenItems & { readonly id: string })[];
  };
  readonly 'GET /admin/operators/:id': OperatorPage;
  /** Body `{reason}`: refused (409) where the operator is held already. */
  readonly 'POST /admin/operators/:id/deliveries/hold': HoldAnswer;
  readonly 'POST /admin/operators/:id/deliveries/resume': HoldAnswer;
  /** What the last certification found (`certify --out`); 404 where none was put there. */
  readonly 'GET /admin/operators/:id/certificate': {
    readonly verdict: 'fit' | 'fit_with_dialect' | 'not_fit';
    readonly summary: string;
    readonly startedAt: string;
    /** Whether every case was tried. */
    readonly complete: boolean;
    /** Which was tried; often a sandbox. */
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
  /** Its wallet is asked for the balance of nobody, signed as calls are; moves no money. */
  readonly 'POST /admin/operators/:id/probe': Probed;
  /** `?operator=&operatorUser=&userId=&transactionId=&state=&amount=&from=&to=&cursor=`, 50 a page. */
  readonly 'GET /admin/bets': Page<BetItem>;
  /** What a reload would change at this moment, and what is wrong in the folder. */
  readonly 'GET /admin/config/preview': ConfigurationPreview;
  /** Body `{generation}`: bets of generations up to it are sent to the present wallet. */
  readonly 'POST /admin/operators/:id/release': { readonly generation: number };
  /** Body `{templates}`, ids of the service as text: the operator's own from now on, all or none. */
  readonly 'POST /admin/operators/:id/templates/assign': {
    readonly assigned: readonly string[];
    /** The operator's before. */
    readonly unchanged: readonly string[];
  };
  /** `?operator=&state=&operation=`: how many a bulk retry of this filter would look at. */
  readonly 'GET /admin/deliveries/count': {
    readonly count: number;
    /** Only where counting took too long, and there may be more. */
    readonly isAtLeast?: true;
  };
  /**
   * Body `{operator, state, operation?, limit?, cursor?}`. At most `limit` are looked at (default and most:
   * 10,000), and `nextCursor` goes on from there: whoever asks page by page sees progress.
   */
  readonly 'POST /admin/deliveries/retry': {
    readonly retried: number;
    /** Null: that was all. Without a `limit` it is there only where more may be left. */
    readonly nextCursor?: string | null;
  };
  /** `?userId=`, or `?operator=&operatorUser=`: at most one. */
  readonly 'GET /admin/players': { readonly items: readonly PlayerItem[] };
  readonly 'GET /admin/players/:userId': PlayerPage;
  readonly 'POST /admin/players/:userId/sessions/revoke': { readonly revoked: number };
  /** One JSON object a line (`application/x-ndjson`): `{player}`, then `{bet}` for each. */
  readonly 'POST /admin/players/:userId/export': unknown;
  /** Refused (409) while a bet of the player is open. */
  readonly 'POST /admin/players/:userId/forget': {
    readonly bets: number;
    readonly messages: number;
    readonly attempts: number;
  };
  /** `?actor=&action=&operator=&from=&to=&cursor=`, 100 a page. */
  readonly 'GET /admin/audit': Page<AuditItem>;
  /** The same without a cursor: all of it, one JSON object a line (`application/x-ndjson`). */
  readonly 'GET /admin/audit/export': unknown;
  /**
   * `?operator=&from=&to=&columns=`, the body a list of bets (CSV, NDJSON, either packed by gzip) of any
   * length. 202 once it is read; whether it could be compared, the next one says.
   */
  readonly 'POST /admin/reconciliations': { readonly id: string };
  /** `?operator=&cursor=`, 50 a page. */
  readonly 'GET /admin/reconciliations': Page<ReconciliationItem>;
  readonly 'GET /admin/reconciliations/:id': ReconciliationItem;
  /** `?kind=&resolved=&cursor=`, 100 a page, in the list's order. 409 unless it is done. */
  readonly 'GET /admin/reconciliations/:id/differences': Page<DifferenceItem>;
  /** Body `{reason}`. Holds for later runs that find the same difference; 409 where it is so already. */
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

/** What is open at one operator. */
interface OpenItems {
  /** Null while PostgreSQL does not answer. */
  readonly openDeliveries: number | null;
  /** Of those: held, as their list has them. */
  readonly heldDeliveries: number | null;
  /** Since when the oldest promise waits; null where none does. */
  readonly oldestDelivery: string | null;
  readonly deadDeliveries: number | null;
  readonly unresolvedBets: number | null;
  /** Those of which there are more: so far only as many have been counted. */
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
  /** What a person decided over a breaker. */
  readonly override: ByClass<'closed' | 'open' | 'auto'>;
  /** Whether a person holds its deliveries. */
  readonly hold: Hold | null;
  /** Over the processes behind this port; null where nothing was counted yet. */
  readonly recently: {
    /** Over how long, at most some five minutes. */
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
  /** As `GET /admin/config` has them. */
  readonly settings: Readonly<Record<string, string | { readonly secrets: readonly string[] }>>;
  /** Of the whole configuration: when it was last good, and whether what stands there is in force. */
  readonly lastReload: { readonly goodAt: string; readonly result: 'ok' | 'invalid' };
  /** One item a minute, oldest first, of at most the last hour. */
  readonly lastHour: readonly OperatorMinute[];
}

/** What was counted in one minute, over the processes behind this port. */
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
  /** Milliseconds, the mean of the wallet's answers; null where it gave none. */
  readonly walletMeanMs: number | null;
}

interface ConfigurationPreview {
  readonly result: 'ok' | 'invalid';
  readonly problems: readonly {
    readonly file: string;
    readonly path: string;
    /** From 1; null where the file as a whole is meant, or two files do not fit together. */
    readonly line: number | null;
    readonly reason: string;
  }[];
  /** Of which at most a hundred stand in `problems`. */
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
  /** By currency; freebets are bets like others here. */
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
  /** What it was done to, such as `delivery 4711`. */
  readonly subject: string;
  readonly operator: string | null;
  readonly before: unknown;
  readonly after: unknown;
  readonly reason: string | null;
}
