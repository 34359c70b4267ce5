import type { Bet, ResultType } from '../../domain/bet.ts';
import {
  afterLeftToPerson,
  afterOneConfirmation,
  type ConfirmationsLeft,
  standingTime,
} from '../../domain/confirm.ts';
import type { Database } from '../database.ts';
import { type Columns, noRow, type Parameters, statement } from '../sql/statement.ts';
import { heldMs } from './held-time.ts';

/** A bet due for its next confirmation, because its wallet may still execute an earlier call. */
export interface DueConfirmation {
  readonly transactionId: string;
  /** PostgreSQL's clock, epoch milliseconds. */
  readonly nowMs: number;
}

const unmoved: Parameters<{ readonly bet: Bet }> = {
  transaction_id: ['text', ({ bet }) => bet.transactionId],
  version: ['int', ({ bet }) => bet.version],
};

const DUE = statement(
  'confirmation-due',
  { limit: ['int', (limit: number) => limit] },
  `
  SELECT transaction_id, extract(epoch FROM clock_timestamp())::float8 * 1000 AS now_ms
    FROM bets WHERE confirm_at <= statement_timestamp() ORDER BY confirm_at LIMIT :limit`,
  (row: Columns): DueConfirmation => ({
    transactionId: row.text('transaction_id'),
    nowMs: row.int('now_ms'),
  }),
);

interface Postponed {
  readonly bet: Bet;
  readonly inMs: number;
}

const POSTPONE = statement(
  'confirmation-postpone',
  { ...unmoved, seconds: ['float8', ({ inMs }) => inMs / 1000] } satisfies Parameters<Postponed>,
  `
  UPDATE bets SET confirm_at = clock_timestamp() + make_interval(secs => :seconds)
   WHERE transaction_id = :transaction_id AND version = :version`,
  noRow,
);

interface OneDone {
  readonly bet: Bet;
  readonly after: ConfirmationsLeft;
}

const oneDone: Parameters<OneDone> = {
  ...unmoved,
  left: ['int', ({ after }) => after.left],
  due_seconds: ['float8', ({ after }) => secondsOrNull(after.dueInMs)],
};

const secondsOrNull = (ms: number | undefined) => (ms === undefined ? null : ms / 1000);

const ONE_DONE = `
  UPDATE bets SET confirm_left = :left, version = version + 1,
                  confirm_at = clock_timestamp() + make_interval(secs => :due_seconds)
   WHERE transaction_id = :transaction_id AND version = :version
  RETURNING transaction_id, operator_id`;

const SKIP = statement('confirmation-skip', oneDone, ONE_DONE, noRow);

interface Promised extends Postponed {
  readonly operationId: string;
  readonly horizonMs: number;
}

/** Makes a delivery with the purpose `confirm`; one operation may have several. */
const SEND = statement(
  'confirmation-send',
  {
    ...unmoved,
    operation_id: ['bigint', ({ operationId }) => operationId],
    transaction_time: ['text', ({ bet }) => standingTime(bet)],
    seconds: ['float8', ({ inMs }) => inMs / 1000],
    horizon_seconds: ['float8', ({ horizonMs }) => horizonMs / 1000],
  } satisfies Parameters<Promised>,
  `
  WITH bet AS (
    UPDATE bets b SET confirm_at = clock_timestamp() + make_interval(secs => :seconds),
                      version = version + 1
      FROM operations o
     WHERE b.transaction_id = :transaction_id AND b.version = :version
       AND o.id = :operation_id AND o.transaction_id = b.transaction_id
    RETURNING b.transaction_id, b.operator_id, o.id AS operation_id, o.operation
  )
  INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, purpose,
                          transaction_time, held_ms, next_attempt_at, dead_at)
  SELECT bet.operation_id, bet.operator_id, bet.transaction_id, bet.operation, 'pending', 'confirm',
         :transaction_time, ${heldMs('bet.operator_id')},
         clock_timestamp(), clock_timestamp() + make_interval(secs => :horizon_seconds)
    FROM bet
  ON CONFLICT (operation_id, purpose) DO UPDATE
     SET state = 'pending', attempts = 0, last_error = NULL, settled_at = NULL,
         held_ms = excluded.held_ms, next_attempt_at = excluded.next_attempt_at,
         dead_at = excluded.dead_at, created_at = clock_timestamp()
  RETURNING id`,
  (row) => row.text('id'),
);

const IS_RESOLVED = statement(
  'confirmation-is-resolved',
  { operation_id: ['bigint', (operationId: string) => operationId] },
  `SELECT id FROM deliveries
    WHERE operation_id = :operation_id AND purpose = 'promise'
      -- Found by the operation, whatever the statistics say of those that have ended.
      AND state IS NOT DISTINCT FROM 'resolved'`,
  (row) => row.text('id'),
);

interface LeftToPerson extends OneDone {
  readonly operationId: string;
  readonly settle: { readonly amount: string; readonly resultType: ResultType } | undefined;
}

/** Unless the operation has one. Increments the bet's version: a concurrent decision without it is made again. */
const LEAVE_TO_PERSON = statement(
  'confirmation-leave-to-person',
  {
    ...oneDone,
    operation_id: ['bigint', ({ operationId }) => operationId],
    settle_amount: ['text', ({ settle }) => settle?.amount ?? null],
    settle_type: ['text', ({ settle }) => settle?.resultType ?? null],
  } satisfies Parameters<LeftToPerson>,
  `
  WITH b AS (${ONE_DONE})
  INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, attempts,
                          transaction_time, settle_amount, settle_type, last_error,
                          next_attempt_at, dead_at, settled_at)
  SELECT o.id, b.operator_id, b.transaction_id, o.operation, 'dead', 1,
         to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
         :settle_amount, :settle_type, 'the process that sent it was lost: outcome unknown',
         clock_timestamp(), clock_timestamp(), clock_timestamp()
    FROM b JOIN operations o ON o.id = :operation_id
  ON CONFLICT (operation_id, purpose) DO NOTHING
  RETURNING id`,
  (row) => row.text('id'),
);

/**
 * Pending confirmations, kept in the bets' rows (docs/money-safety.md). A write takes effect only if the bet has not
 * changed since it was read. Every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class Confirmations {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async due(limit: number): Promise<readonly DueConfirmation[]> {
    return await this.#database.run(DUE, limit);
  }

  async postpone(bet: Bet, inMs: number): Promise<void> {
    await this.#database.run(POSTPONE, { bet, inMs });
  }

  /** Counts one of the bet's confirmations as done, without a call. @returns false if the bet has changed */
  async skip(bet: Bet): Promise<boolean> {
    const after = afterOneConfirmation(bet);
    return (await this.#database.run(SKIP, { bet, after })).length > 0;
  }

  /**
   * Makes a dead letter of the operation of unknown outcome, and counts one confirmation as done.
   * @param settle its result; undefined for an unsettle
   * @returns false if its result is not in doubt, it has a dead letter already, or the bet has changed
   */
  async leaveToPerson(
    bet: Bet,
    operationId: string,
    settle: LeftToPerson['settle'],
  ): Promise<boolean> {
    const after = afterLeftToPerson(bet);
    if (after === undefined) return false;
    const made = await this.#database.run(LEAVE_TO_PERSON, { bet, after, operationId, settle });
    return made.length > 0;
  }

  /** Whether a person has resolved the operation's delivery: it is then never sent automatically. */
  async isResolved(operationId: string): Promise<boolean> {
    return (await this.#database.run(IS_RESOLVED, operationId)).length > 0;
  }

  /**
   * Makes a delivery of the standing operation. The bet is due again after `inMs`, in case that delivery is lost.
   * @returns false if the operation is no longer recorded, or the bet has changed
   */
  async send(bet: Bet, confirmation: Omit<Promised, 'bet'>): Promise<boolean> {
    return (await this.#database.run(SEND, { bet, ...confirmation })).length > 0;
  }
}
