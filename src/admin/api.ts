import type { Problem } from '../config/problems.ts';
import type { SettingChange } from '../config/settings-diff.ts';
import type { SettingsView } from '../config/settings-view.ts';
import type { LastReload } from '../config/source.ts';
import type { AuditRow } from '../store/audit/audit-log.ts';
import type { FoundBet } from '../store/bets/search-statements.ts';
import type { ResultItem } from '../store/bets/unknown-results.ts';
import type { DeliveryHold } from '../store/deliveries/holds.ts';
import type { PlayerFacts, PlayerFile } from '../store/players/player-records.ts';
import type { DifferenceItem } from '../store/reconciliation/difference-item.ts';
import type { ReconciliationItem } from '../store/reconciliation/run-item.ts';
import type { OperatorMinute, OperatorRecently } from '../telemetry/last-hour.ts';
import type { Probed } from '../wallets/probe.ts';
import type { OperatorCounts } from './operators/operator-counts.ts';

/**
 * The answers of the admin API, by route. Times are ISO 8601 UTC, amounts decimal text; lists come newest first.
 * `nextCursor` is null on the last page. POST bodies are JSON with an optional `reason`, kept in the audit.
 */
export interface AdminApi {
  readonly 'GET /admin/operators': {
    readonly items: readonly OperatorItem[];
    /** Operators with open deliveries or bets but no file; empty while PostgreSQL does not answer. */
    readonly withoutFile: readonly (OperatorCounts & { readonly id: string })[];
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
  /** `?operator=&operatorUser=&userId=&transactionId=&state=&amount=&from=&to=&cursor=`, 50 a page; roles without personal data get no player. */
  readonly 'GET /admin/bets': Page<FoundBet>;
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
  /** Body `{operator, state, operation?, limit?, cursor?}`; at most `limit` are read (default and maximum 10,000). */
  readonly 'POST /admin/deliveries/retry': {
    readonly retried: number;
    /** Null: that was all. If no `limit` was given, present only if there may be more. */
    readonly nextCursor?: string | null;
  };
  /** `?userId=`, or `?operator=&operatorUser=`: at most one. */
  readonly 'GET /admin/players': { readonly items: readonly PlayerFacts[] };
  readonly 'GET /admin/players/:userId': PlayerFile;
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
  readonly 'GET /admin/audit': Page<AuditRow>;
  /** The same query without `cursor`: the whole audit, one JSON object per line (`application/x-ndjson`). */
  readonly 'GET /admin/audit/export': unknown;
  /** `?operator=&from=&to=&columns=`; the body is a list of bets (CSV or NDJSON, optionally gzipped). Answers 202. */
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

interface HoldAnswer {
  readonly operator: string;
  readonly hold: DeliveryHold | null;
}

interface OperatorItem extends OperatorCounts {
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
  readonly hold: DeliveryHold | null;
  /** The `wallet.generation` that its bets were released to, if its file has a lower one: no place is sent then. */
  readonly releasedTo: number | null;
  /** Summed over the processes behind this port; null if nothing was counted yet. */
  readonly recently: OperatorRecently | null;
}

interface OperatorPage extends OperatorItem {
  /** As in `GET /admin/config`. */
  readonly settings: SettingsView;
  /** Of the whole configuration. */
  readonly lastReload: LastReload;
  /** One item per minute of at most the last hour, oldest first. */
  readonly lastHour: readonly OperatorMinute[];
}

interface ConfigurationPreview {
  readonly result: 'ok' | 'invalid';
  readonly problems: readonly Problem[];
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
