import { batchStatement, type Parameters } from '../sql/statement.ts';
import { ATTEMPT_COLUMNS, attemptParameters } from './attempt-record.ts';
import { placeColumns } from './columns.ts';
import { LEASE_END } from './lease.ts';
import { INPUT_WITH_LOCKS, WHAT_BECAME_OF_INPUT, whatBecame } from './locked-row.ts';
import type { Limited, PlaceIntent, PlaceResult } from './place.ts';

/** A row has an `operation_id` only if this intent created the bet: not if it was known, or its session had ended. */
export const BEGIN = batchStatement(
  'place-begin',
  {
    transaction_id: ['text', ({ transactionId }) => transactionId],
    attempt_id: ['uuid', ({ attemptId }) => attemptId],
    operator_id: ['text', ({ operatorId }) => operatorId],
    player_id: ['bigint', ({ playerId }) => playerId],
    session_id: ['bigint', ({ sessionId }) => sessionId],
    token_hash: ['bytea', ({ tokenHash }) => tokenHash],
    amount: ['text', ({ amount }) => amount],
    currency: ['text', ({ currency }) => currency],
    generation: ['int', ({ generation }) => generation],
    request_id: ['text', ({ requestId }) => requestId ?? null],
    body: ['bytea', ({ body }) => body],
    answer_status: ['int', ({ notSent }) => notSent?.status ?? null],
    answer_body: ['text', ({ notSent }) => notSent?.body ?? null],
    before: ['timestamptz', ({ before }) => before],
  } satisfies Parameters<Limited<PlaceIntent>>,
  `
  WITH input AS MATERIALIZED (
    SELECT i.*,
           -- Nothing takes effect after its caller was answered (I11).
           clock_timestamp() >= i.before AS is_late,
           s.id IS NOT NULL AND h.operator_id IS NULL AS is_live
      FROM :input
      -- A process may have cached a session that a failover has lost: its ids may belong to others now. IS NOT DISTINCT
      -- FROM forces a look-up by id.
      LEFT JOIN sessions s ON s.id = i.session_id AND s.token_hash IS NOT DISTINCT FROM i.token_hash
       AND s.player_id IS NOT DISTINCT FROM i.player_id AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
      -- Nor for a process still configured with the previous wallet: bets of that generation have been released to
      -- another wallet, which does not have this bet.
      LEFT JOIN operator_holds h ON h.operator_id = i.operator_id
       AND h.released >= i.generation AND h.released_to > i.generation
  ), bet AS (
    INSERT INTO bets (transaction_id, operator_id, player_id, session_id, amount, currency,
                      generation, place, busy_operation, busy_attempt, busy_until)
    SELECT transaction_id, operator_id, player_id, session_id, amount, currency, generation,
           CASE WHEN answer_status IS NULL THEN 'in_flight' ELSE 'not_sent' END,
           CASE WHEN answer_status IS NULL THEN 'place' END,
           CASE WHEN answer_status IS NULL THEN attempt_id END,
           CASE WHEN answer_status IS NULL
                THEN ${LEASE_END} END
      FROM input WHERE is_live AND NOT is_late
     -- All batches use the same order, so that no two of them deadlock.
     ORDER BY transaction_id, attempt_id
    ON CONFLICT (transaction_id) DO NOTHING
    RETURNING transaction_id
  ), op AS (
    -- Of copies in one batch, the row of the first in that order was inserted.
    INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, request_id, body,
                            answer_status, answer_body)
    SELECT DISTINCT ON (i.transaction_id) i.transaction_id, i.operator_id, 'place', i.attempt_id,
           i.request_id, i.body, i.answer_status, i.answer_body
      FROM input i JOIN bet USING (transaction_id) WHERE i.is_live AND NOT i.is_late
     ORDER BY i.transaction_id, i.attempt_id
    RETURNING id, attempt_id
  )
  SELECT i.attempt_id, i.is_late, i.is_live, op.id AS operation_id
    FROM input i LEFT JOIN op USING (attempt_id)`,
  (row) => ({
    attemptId: row.text('attempt_id'),
    isLate: row.bool('is_late'),
    isLive: row.bool('is_live'),
    operationId: row.textOrNull('operation_id'),
  }),
);

/** A place's outcome, and whether its caller was answered 100 before that was written. */
export type DecidedPlace = PlaceResult & {
  /** Undefined: written at any time. */
  readonly before: Date | undefined;
  readonly placeAnsweredUnknown: boolean;
};

/** Outcomes of places, each written only while its attempt owns the bet. */
export const FINISH_PLACES = batchStatement(
  'place-finish',
  {
    transaction_id: ['text', ({ transactionId }) => transactionId],
    attempt_id: ['uuid', ({ attemptId }) => attemptId],
    operation_id: ['bigint', ({ operationId }) => operationId],
    place: ['text', ({ place }) => placeColumns(place).place],
    place_time: ['text', ({ place }) => placeColumns(place).time],
    place_code: ['int', ({ place }) => placeColumns(place).code],
    place_message: ['text', ({ place }) => placeColumns(place).message],
    place_answered_unknown: ['bool', ({ placeAnsweredUnknown }) => placeAnsweredUnknown],
    confirmed: ['bool', ({ place }) => place.kind === 'accepted'],
    ...attemptParameters<DecidedPlace>(({ attempt }) => attempt),
    before: ['timestamptz', ({ before }) => before ?? null],
  } satisfies Parameters<DecidedPlace>,
  `
  ${INPUT_WITH_LOCKS}, bet AS (
    UPDATE bets b
       SET place = i.place, place_time = i.place_time, place_code = i.place_code,
           place_message = i.place_message, place_answered_unknown = i.place_answered_unknown,
           busy_operation = NULL, busy_attempt = NULL, busy_until = NULL, version = b.version + 1
      FROM input i
     WHERE b.transaction_id = i.transaction_id AND b.busy_attempt = i.attempt_id
       AND b.place = 'in_flight' AND i.is_free AND NOT i.is_late
    RETURNING i.attempt_id
  ), attempt AS (
    -- Even if its lease has ended and the bet was freed: then the answer does not change it, but people must see it.
    INSERT INTO attempts (operation_id, number, ${ATTEMPT_COLUMNS.join(', ')}, confirmed)
    SELECT i.operation_id, 1, ${ATTEMPT_COLUMNS.map((column) => `i.${column}`).join(', ')},
           i.confirmed AND bet.attempt_id IS NOT NULL
      FROM input i LEFT JOIN bet USING (attempt_id) WHERE i.is_free AND NOT i.is_late ORDER BY i.operation_id
    ON CONFLICT DO NOTHING
  )
  ${WHAT_BECAME_OF_INPUT}`,
  whatBecame,
);

/** Finds, by attempt, outcomes that an earlier statement committed without a reply. */
export const LOOK_UP_FINISHED = batchStatement(
  'place-look-up-finished',
  {
    transaction_id: ['text', ({ transactionId }) => transactionId],
    attempt_id: ['uuid', ({ attemptId }) => attemptId],
    operation_id: ['bigint', ({ operationId }) => operationId],
    place: ['text', ({ place }) => placeColumns(place).place],
  } satisfies Parameters<PlaceResult>,
  `
  SELECT i.attempt_id, b.place_answered_unknown AS is_late
    FROM :input
    JOIN bets b ON b.transaction_id = i.transaction_id AND b.place = i.place
    JOIN operations o ON o.id = i.operation_id AND o.attempt_id = i.attempt_id
    JOIN attempts a ON a.operation_id = i.operation_id AND a.number = 1`,
  (row) => ({ attemptId: row.text('attempt_id'), isLate: row.bool('is_late') }),
);
