import type { Bet, ResultType, Settlement } from '../../domain/bet.ts';
import type { FoundAtWallet } from '../../domain/resolve.ts';
import { AUDITED, type Authority, auditText } from '../audit/audited.ts';
import type { Database } from '../database.ts';
import { isDead } from '../deliveries/open-of-bet.ts';
import { type Columns, type Parameters, statement } from '../sql/statement.ts';
import { settlementColumns } from './columns.ts';
import type { RecordedOperation } from './journal.ts';
import { RECORDED_OPERATIONS } from './recorded.ts';
import { FIND } from './statements.ts';

/** A person's finding about a bet's result, and what is written of it. */
export interface ResultFound {
  /** As it was read: nothing is written if it has changed. */
  readonly bet: Bet;
  /** The newest result of unknown outcome. */
  readonly operationId: string;
  /** Its request; undefined for an unsettle. */
  readonly attempted: { readonly amount: string; readonly resultType: ResultType } | undefined;
  readonly settlement: Extract<Settlement, { readonly kind: 'settled' | 'unsettled' }>;
  /** A person or a ticket, for the record. */
  readonly who: string;
  readonly why: string;
  readonly by: Authority;
}

/** A person's finding about a bet at its wallet. */
export interface PersonsWord extends Pick<ResultFound, 'who' | 'why' | 'by'> {
  readonly found: FoundAtWallet;
}

/** A bet's new result, for people. */
export interface ResultItem {
  readonly transactionId: string;
  readonly operator: string | null;
  readonly settlement: {
    readonly state: 'settled' | 'unsettled';
    readonly amount: string | null;
    readonly resultType: string | null;
  };
}

export type ResolvedResult =
  | { readonly kind: 'resolved'; readonly item: ResultItem }
  /** Nothing was written. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'missing' };

/** The dead letters of a bet's results, and PostgreSQL's clock in epoch milliseconds. */
const LOOK = statement(
  'bet-resolve-look',
  { transaction_id: ['text', (transactionId: string) => transactionId] },
  `
  SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms,
         (SELECT json_agg(json_build_object('id', d.id::text, 'operation_id', d.operation_id::text) ORDER BY d.id)
            FROM deliveries d
           WHERE d.transaction_id = :transaction_id AND ${isDead('d')}
             AND d.operation IN ('settle', 'unsettle')) AS dead`,
  (row) => ({
    nowMs: row.int('now_ms'),
    dead: row
      .rowsOrNull('dead')
      .map((one) => ({ id: one.text('id'), operationId: one.text('operation_id') })),
  }),
);

/** A bet that a person has to decide about. */
export interface BetInDoubt {
  readonly bet: Bet;
  /** Newest first. */
  readonly operations: readonly RecordedOperation[];
  /** The dead letters of its results, oldest first. */
  readonly dead: readonly { readonly id: string; readonly operationId: string }[];
  /** PostgreSQL's clock, epoch milliseconds. */
  readonly nowMs: number;
}

/**
 * A delivery that a person has resolved (`isResolved`) marks the result as unconfirmed, and dead letters of results are
 * closed, so that nobody retries one. Locks the bet's row first; writes nothing if the bet has changed.
 */
const RESOLVE = statement(
  'bet-resolve-result',
  {
    ...AUDITED,
    transaction_id: ['text', ({ bet }) => bet.transactionId],
    version: ['int', ({ bet }) => bet.version],
    operation_id: ['bigint', ({ operationId }) => operationId],
    attempted_amount: ['text', ({ attempted }) => attempted?.amount ?? null],
    attempted_type: ['text', ({ attempted }) => attempted?.resultType ?? null],
    settlement: ['text', ({ settlement }) => settlement.kind],
    settlement_amount: ['text', ({ settlement }) => settlementColumns(settlement).amount],
    settlement_type: ['text', ({ settlement }) => settlementColumns(settlement).type],
    settlement_time: ['text', ({ settlement }) => settlement.transactionTime],
    who: ['text', ({ who }) => who],
    why: ['text', ({ why }) => why],
  } satisfies Parameters<ResultFound>,
  `
  WITH unmoved AS MATERIALIZED (
    SELECT transaction_id, operator_id, settlement_amount, settlement_type FROM bets
     WHERE transaction_id = :transaction_id AND version = :version FOR UPDATE
  ), closed AS (
    INSERT INTO deliveries AS d
           (operation_id, operator_id, transaction_id, operation, state, transaction_time,
            settle_amount, settle_type, next_attempt_at, dead_at, settled_at, resolved_by, resolved_why)
    SELECT o.id, u.operator_id, u.transaction_id, o.operation, 'resolved', :settlement_time,
           :attempted_amount, :attempted_type, clock_timestamp(), clock_timestamp(), clock_timestamp(), :who, :why
      FROM unmoved u JOIN operations o ON o.id = :operation_id
    ON CONFLICT (operation_id, purpose) DO UPDATE
       SET state = 'resolved', resolved_by = :who, resolved_why = :why, settled_at = clock_timestamp()
     WHERE d.state NOT IN ('live', 'pending')
    RETURNING d.transaction_id, d.operation_id
  ), others AS (
    UPDATE deliveries d
       SET state = 'resolved', resolved_by = :who, resolved_why = :why, settled_at = clock_timestamp()
      FROM closed c
     WHERE d.transaction_id = c.transaction_id AND d.operation_id <> c.operation_id
       AND ${isDead('d')} AND d.operation IN ('settle', 'unsettle')
  ), resolved AS (
    UPDATE bets b
       SET settlement = :settlement, settlement_amount = :settlement_amount,
           settlement_type = :settlement_type, settlement_time = :settlement_time,
           standing_operation_id = c.operation_id, version = b.version + 1
      FROM closed c WHERE b.transaction_id = c.transaction_id
    RETURNING b.transaction_id, b.operator_id
  ), audited AS (${auditText(
    'bet.resolve',
    `SELECT 'bet ' || r.transaction_id, r.operator_id,
            jsonb_build_object('result', 'unknown', 'amount', u.settlement_amount,
                               'resultType', u.settlement_type),
            jsonb_build_object('result', :settlement, 'amount', :settlement_amount,
                               'resultType', :settlement_type, 'by', :who)
       FROM resolved r JOIN unmoved u USING (transaction_id)`,
  )})
  SELECT transaction_id FROM resolved`,
  (row: Columns) => row.text('transaction_id'),
);

/** Results of unknown outcome, which people close. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class UnknownResults {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @returns undefined if the journal has no such bet */
  async find(transactionId: string): Promise<BetInDoubt | undefined> {
    // The bet first: any later change keeps `resolve` from writing.
    const [bet] = await this.#database.run(FIND, [transactionId]);
    if (bet === undefined) return undefined;
    const operations = await this.#database.run(RECORDED_OPERATIONS, { transactionId });
    const [looked] = await this.#database.run(LOOK, transactionId);
    const { nowMs = 0, dead = [] } = looked ?? {};
    return { bet, operations, dead, nowMs };
  }

  /**
   * Writes a person's finding as the bet's result, with an audit row. Neither sent nor confirmed: a person has checked
   * it.
   * @returns false if the bet has changed since it was read
   */
  async resolve(found: ResultFound): Promise<boolean> {
    return (await this.#database.run(RESOLVE, found)).length > 0;
  }
}
