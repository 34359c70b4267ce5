import { DatabaseError } from 'pg';
import type { Bet, Rollback, Settlement } from '../../domain/bet.ts';
import { GatewayError } from '../../domain/errors.ts';
import { Batcher } from '../batcher.ts';
import type { Database, Statement } from '../database.ts';
import { storable } from '../storable-text.ts';
import { ATTEMPT_COLUMNS, type AttemptRecord, attemptValues } from './attempt.ts';
import type { NewDelivery } from './journal.ts';
import { placeValues, rollbackValues, settlementValues } from './rows.ts';
import { heldMs } from './statements.ts';

/** What an attempt that began with a commit, or took a delivery, brought. */
export interface Outcome {
  readonly transactionId: string;
  readonly attemptId: string;
  readonly operationId: string;
  readonly attempt: AttemptRecord;
  readonly settlement?: Settlement | undefined;
  readonly rollback?: Rollback | undefined;
  readonly update?: Bet['update'];
  /** Only for a place that began here because another operation of its bet had come first. */
  readonly place?: Bet['place'] | undefined;
  /** What becomes of the delivery that guarded the attempt, or of a new promise. */
  readonly delivery:
    | { readonly kind: 'none' }
    | { readonly kind: 'delivered' }
    | { readonly kind: 'refused' }
    | { readonly kind: 'dead' }
    | { readonly kind: 'pending'; readonly retryInMs: number }
    /** Not sent, so no attempt was spent. */
    | { readonly kind: 'unsent'; readonly retryInMs: number }
    /** Confirmed, and to be confirmed once more: what it undoes may have landed late. */
    | { readonly kind: 'again'; readonly retryInMs: number }
    | { readonly kind: 'new'; readonly delivery: NewDelivery; readonly retryInMs: number };
}

/** Writes what attempts brought and frees their bets, in batches: a backlog has many at once. */
export class BetOutcomes {
  readonly #finishes: Batcher<Outcome, boolean>;

  constructor(database: Database) {
    this.#finishes = new Batcher({
      concurrency: 2,
      waitingMax: 5_000,
      isRowError: (error: unknown) => error instanceof DatabaseError,
      refused: (why: string) => new GatewayError('DATABASE_UNAVAILABLE', why),
      run: (outcomes) => finish(database, outcomes),
    });
  }

  /**
   * @returns false when the attempt's lease had ended and the bet is no longer its own
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written
   */
  finish(outcome: Outcome): Promise<boolean> {
    return this.#finishes.add(outcome);
  }
}

/** The columns of `FINISH`'s input, each an array parameter, in this order. */
const FINISH_INPUT = [
  ['transaction_id', 'text'],
  ['attempt_id', 'uuid'],
  ['operation_id', 'bigint'],
  ['settlement', 'text'],
  ['settlement_amount', 'text'],
  ['settlement_type', 'text'],
  ['settlement_time', 'text'],
  ['rollback', 'text'],
  ['rollback_time', 'text'],
  ['rollback_code', 'int'],
  ['rollback_message', 'text'],
  ['place', 'text'],
  ['place_time', 'text'],
  ['place_code', 'int'],
  ['place_message', 'text'],
  ['update_key', 'text'],
  ['update_time', 'text'],
  ['started_at', 'timestamptz'],
  ['latency_ms', 'int'],
  ['result', 'text'],
  ['status', 'int'],
  ['code', 'int'],
  ['error', 'text'],
  ['answer_status', 'int'],
  ['answer_body', 'text'],
  ['kind', 'text'],
  ['retry_seconds', 'float8'],
  ['promise_operation', 'text'],
  ['promise_time', 'text'],
  ['horizon_seconds', 'float8'],
  ['settle_amount', 'text'],
  ['settle_type', 'text'],
  ['purpose', 'text'],
] as const;

/** What of a bet an outcome writes together, or leaves as it is. */
const FINISHED_STATE = [
  ['settlement', 'settlement_amount', 'settlement_type', 'settlement_time'],
  ['rollback', 'rollback_time', 'rollback_code', 'rollback_message'],
  ['place', 'place_time', 'place_code', 'place_message'],
  ['update_key', 'update_time'],
] as const;

const finishedState = FINISHED_STATE.flatMap((columns) =>
  columns.map(
    (column) =>
      `${column} = CASE WHEN i.${columns[0]} IS NULL THEN b.${column} ELSE i.${column} END`,
  ),
);

/** Outcomes of attempts, any number at once; each is written only while its attempt owns the bet. */
const FINISH: Statement = {
  name: 'bet-finish',
  text: `
  WITH input AS (
    SELECT * FROM unnest(${FINISH_INPUT.map(([, type], n) => `$${n + 1}::${type}[]`).join(', ')})
        AS i(${FINISH_INPUT.map(([column]) => column).join(', ')})
  ), bet AS (
    UPDATE bets b
       SET ${finishedState.join(',\n           ')},
           busy_operation = NULL, busy_attempt = NULL, busy_until = NULL, version = b.version + 1
      FROM input i
     WHERE b.transaction_id = i.transaction_id AND b.busy_attempt = i.attempt_id
    RETURNING i.attempt_id, b.operator_id
  ), attempt AS (
    -- Also when the lease had ended: a late answer changes nothing, but people must see it.
    INSERT INTO attempts (operation_id, number, ${ATTEMPT_COLUMNS.join(', ')})
    SELECT i.operation_id,
           1 + coalesce((SELECT max(a.number) FROM attempts a
                          WHERE a.operation_id = i.operation_id), 0),
           ${ATTEMPT_COLUMNS.map((column) => `i.${column}`).join(', ')}
      FROM input i WHERE i.kind <> 'unsent'
    ON CONFLICT DO NOTHING
  ), confirmed_live AS (
    -- Confirmed within its own callback: it never was a delivery.
    DELETE FROM deliveries d USING bet JOIN input i USING (attempt_id)
     WHERE d.operation_id = i.operation_id AND d.state = 'live' AND i.kind = 'delivered'
  ), promised AS (
    UPDATE deliveries d
       SET state = CASE WHEN i.kind IN ('pending', 'again', 'unsent') THEN 'pending'
                        ELSE i.kind END,
           -- A drain counts its attempt when it takes the row, a callback only here.
           attempts = d.attempts + CASE WHEN d.state = 'live' AND i.kind <> 'unsent' THEN 1
                                        WHEN d.state = 'pending' AND i.kind = 'unsent' THEN -1
                                        ELSE 0 END,
           confirmations = d.confirmations
             + CASE WHEN i.kind IN ('again', 'delivered') THEN 1 ELSE 0 END,
           last_error = CASE WHEN i.kind IN ('pending', 'dead', 'refused')
                             THEN coalesce(i.error, i.result) ELSE d.last_error END,
           next_attempt_at = clock_timestamp() + make_interval(secs => i.retry_seconds),
           settled_at = CASE WHEN i.kind IN ('pending', 'again', 'unsent') THEN NULL
                             ELSE clock_timestamp() END
      FROM bet JOIN input i USING (attempt_id)
     WHERE d.operation_id = i.operation_id
       AND (d.state = 'live' AND i.kind IN ('pending', 'again', 'unsent', 'refused')
            OR d.state = 'pending' AND i.kind
               IN ('pending', 'again', 'unsent', 'refused', 'delivered', 'dead'))
  ), taken_over AS (
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, attempts,
                            transaction_time, settle_amount, settle_type, last_error, purpose,
                            held_ms, next_attempt_at, dead_at)
    SELECT i.operation_id, bet.operator_id, i.transaction_id, i.promise_operation, 'pending',
           CASE WHEN i.purpose = 'promise' THEN 1 ELSE 0 END, i.promise_time, i.settle_amount,
           i.settle_type, i.error, i.purpose, ${heldMs('bet.operator_id')},
           clock_timestamp() + make_interval(secs => i.retry_seconds),
           clock_timestamp() + make_interval(secs => i.horizon_seconds + i.retry_seconds)
      FROM bet JOIN input i USING (attempt_id) WHERE i.kind = 'new'
    ON CONFLICT (operation_id) DO NOTHING
  )
  SELECT attempt_id FROM bet`,
};

async function finish(
  database: Database,
  outcomes: readonly Outcome[],
): Promise<readonly boolean[]> {
  const rows = outcomes.map(inputOf);
  const freed = await database.query<{ attempt_id: string }>(
    FINISH,
    FINISH_INPUT.map((_, column) => rows.map((row) => row[column] ?? null)),
  );
  const ids = new Set(freed.map((row) => row.attempt_id));
  return outcomes.map(({ attemptId }) => ids.has(attemptId));
}

type Value = string | number | Date | null;

/** One outcome in the order of `FINISH_INPUT`. */
function inputOf(outcome: Outcome): readonly Value[] {
  const { delivery, settlement, rollback, place } = outcome;
  const promise = delivery.kind === 'new' ? delivery.delivery : undefined;
  return [
    outcome.transactionId,
    outcome.attemptId,
    outcome.operationId,
    ...(settlement === undefined ? UNCHANGED : settlementValues(settlement)),
    ...(rollback === undefined ? UNCHANGED : rollbackValues(rollback).map(storableIfText)),
    ...(place === undefined ? UNCHANGED : placeValues(place).map(storableIfText)),
    outcome.update?.key ?? null,
    outcome.update?.transactionTime ?? null,
    ...attemptValues(outcome.attempt),
    delivery.kind,
    'retryInMs' in delivery ? delivery.retryInMs / 1000 : 0,
    promise?.operation ?? null,
    promise?.transactionTime ?? null,
    (promise?.horizonMs ?? 0) / 1000,
    promise?.settle?.amount ?? null,
    promise?.settle?.resultType ?? null,
    promise?.purpose ?? 'promise',
  ];
}

const UNCHANGED = [null, null, null, null];

function storableIfText(value: string | number | null): string | number | null {
  return typeof value === 'string' ? storable(value) : value;
}
