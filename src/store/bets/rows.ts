import {
  type AttemptedResult,
  type Bet,
  type BetOwner,
  type LateEffect,
  type LateOperation,
  type OpenDelivery,
  type PlaceState,
  RESULT_TYPES,
  type ResultType,
  type Rollback,
  type Settlement,
} from '../../domain/bet.ts';
import { PLACES } from '../../domain/bet-state.ts';
import { BET_OPERATIONS, DELIVERABLE_OPERATIONS } from '../../domain/operation.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { isOpen } from '../deliveries/open-of-bet.ts';
import type { Columns } from '../sql/statement.ts';

export const SETTLEMENTS = ['none', 'settled', 'unsettled', 'unknown'] as const;
export const ROLLBACKS = ['none', 'promised', 'confirmed'] as const;
export const SETTLEMENT_TYPES = [...RESULT_TYPES, 'unsettle'] as const;
export const LATE_KINDS = ['place', 'settle', 'unsettle', 'several'] as const;
export const BUSY_OPERATIONS = [...BET_OPERATIONS, 'confirm'] as const;

/**
 * Those of the bet `b`. OFFSET 0: found by the bet, whatever other conditions there are. With an empty table,
 * PostgreSQL would otherwise plan to read all of it by id or another column.
 */
const OPEN_DELIVERIES = `(SELECT * FROM deliveries d
                   WHERE d.transaction_id = b.transaction_id AND ${isOpen('d')} OFFSET 0) d`;

/** What `betOf` reads of a bet `b` and its player `p`; PostgreSQL's clock decides `lapsed`. */
export const BET_COLUMNS = `
         b.transaction_id, b.operator_id, b.player_id, b.session_id, b.amount, b.currency,
         b.generation, coalesce((SELECT h.released FROM operator_holds h
                                  WHERE h.operator_id = b.operator_id), 0) AS released,
         coalesce((SELECT h.released_to FROM operator_holds h
                    WHERE h.operator_id = b.operator_id), 0) AS released_to,
         b.place, b.place_time, b.place_code, b.place_message, b.place_answered_unknown,
         b.settlement, b.settlement_amount, b.settlement_type, b.settlement_time,
         b.rollback, b.rollback_time, b.rollback_code, b.rollback_message,
         b.update_key, b.update_time, b.busy_operation, b.busy_attempt,
         coalesce(b.busy_until <= clock_timestamp(), false) AS lapsed, b.version,
         b.standing_operation_id, b.late_kind, b.late_amount, b.late_type,
         extract(epoch FROM b.late_at)::float8 * 1000 AS late_at_ms, b.confirm_left,
         EXISTS (SELECT FROM ${OPEN_DELIVERIES} WHERE d.purpose = 'confirm') AS is_confirming,
         p.user_id, p.operator_user,
         (SELECT json_agg(json_build_object(
                   'id', d.id::text, 'operation_id', d.operation_id::text,
                   'operation', d.operation, 'attempts', d.attempts,
                   'settle_amount', d.settle_amount, 'settle_type', d.settle_type,
                   'transaction_time', d.transaction_time) ORDER BY d.id)
            FROM ${OPEN_DELIVERIES} WHERE d.purpose = 'promise') AS deliveries`;

/** Bets with their players and open deliveries. */
export const SELECT_BETS = `
  SELECT ${BET_COLUMNS}
    FROM bets b LEFT JOIN players p ON p.id = b.player_id
   WHERE b.transaction_id = ANY (:transaction_ids)`;

/** @throws UnreadableRow if the row breaks a rule: the table has no checks of its own, because each place would pay */
export function betOf(row: Columns): Bet {
  const updateKey = row.textOrNull('update_key');
  const busy = row.oneOfOrNull('busy_operation', BUSY_OPERATIONS);
  const place = placeOf(row);
  // A place in flight is always somebody's, until its lease ends.
  if (place.kind === 'inFlight') row.text('busy_attempt');
  return {
    transactionId: row.text('transaction_id'),
    owner: ownerOf(row),
    sessionId: row.textOrNull('session_id'),
    amount: row.textOrNull('amount'),
    currency: row.textOrNull('currency'),
    generation: row.int('generation'),
    released: row.int('released'),
    releasedTo: row.int('released_to'),
    place,
    settlement: settlementOf(row),
    rollback: rollbackOf(row),
    update:
      updateKey === undefined
        ? undefined
        : { key: updateKey, transactionTime: row.text('update_time') },
    busy:
      busy === undefined
        ? undefined
        : { operation: busy, attemptId: row.text('busy_attempt'), lapsed: row.bool('lapsed') },
    deliveries: row.rowsOrNull('deliveries').map(deliveryOf),
    late: lateOf(row),
    standingOperationId: row.textOrNull('standing_operation_id'),
    placeAnsweredUnknown: row.bool('place_answered_unknown'),
    version: row.int('version'),
  };
}

function ownerOf(row: Columns): BetOwner | undefined {
  const operatorId = row.textOrNull('operator_id');
  if (operatorId === undefined) return undefined;
  return {
    operatorId,
    playerId: row.text('player_id'),
    userId: row.text('user_id'),
    operatorUser: row.text('operator_user'),
  };
}

function placeOf(row: Columns): PlaceState {
  const place = row.oneOf('place', PLACES);
  switch (place) {
    case 'unseen':
    case 'unknown':
      return { kind: place };
    case 'in_flight':
      return { kind: 'inFlight' };
    case 'not_sent':
      return { kind: 'notSent' };
    case 'accepted':
      return { kind: 'accepted', transactionTime: row.text('place_time') };
    case 'declined':
      return {
        kind: 'declined',
        code: row.int('place_code'),
        message: row.text('place_message'),
      };
    default:
      return unreachable(place);
  }
}

export function settlementOf(row: Columns): Settlement {
  const settlement = row.oneOf('settlement', SETTLEMENTS);
  switch (settlement) {
    case 'none':
      return { kind: 'none' };
    case 'unknown':
      return { kind: 'unknown', attempted: attemptedOf(row) };
    case 'unsettled':
      return { kind: 'unsettled', transactionTime: row.text('settlement_time') };
    case 'settled':
      return {
        kind: 'settled',
        amount: row.text('settlement_amount'),
        resultType: row.oneOf('settlement_type', RESULT_TYPES),
        transactionTime: row.text('settlement_time'),
      };
    default:
      return unreachable(settlement);
  }
}

function attemptedOf(row: Columns): AttemptedResult {
  const type = row.oneOfOrNull('settlement_type', SETTLEMENT_TYPES);
  if (type === undefined) return { kind: 'several' };
  if (type === 'unsettle') return { kind: 'unsettle' };
  return { kind: 'settle', amount: row.text('settlement_amount'), resultType: type };
}

function rollbackOf(row: Columns): Rollback {
  const rollback = row.oneOf('rollback', ROLLBACKS);
  switch (rollback) {
    case 'none':
      return { kind: 'none' };
    case 'promised':
      return { kind: 'promised', transactionTime: row.text('rollback_time') };
    case 'confirmed': {
      const transactionTime = row.text('rollback_time');
      const code = row.intOrNull('rollback_code');
      if (code === undefined) return { kind: 'confirmed', transactionTime };
      const message = row.textOrNull('rollback_message') ?? '';
      return { kind: 'confirmed', transactionTime, refusal: { code, message } };
    }
    default:
      return unreachable(rollback);
  }
}

function lateOf(row: Columns): LateEffect | undefined {
  const confirmationsLeft = row.int('confirm_left');
  if (confirmationsLeft === 0) return undefined;
  return {
    operation: lateOperationOf(row),
    atMs: row.int('late_at_ms'),
    confirmationsLeft,
    isConfirming: row.bool('is_confirming'),
  };
}

function lateOperationOf(row: Columns): LateOperation {
  const kind = row.oneOf('late_kind', LATE_KINDS);
  switch (kind) {
    case 'place':
    case 'unsettle':
    case 'several':
      return { kind };
    case 'settle':
      return {
        kind,
        amount: row.text('late_amount'),
        resultType: row.oneOf('late_type', RESULT_TYPES),
      };
    default:
      return unreachable(kind);
  }
}

function deliveryOf(row: Columns): OpenDelivery {
  const amount = row.textOrNull('settle_amount');
  const resultType: ResultType | undefined = row.oneOfOrNull('settle_type', RESULT_TYPES);
  return {
    id: row.text('id'),
    operationId: row.text('operation_id'),
    operation: row.oneOf('operation', DELIVERABLE_OPERATIONS),
    attempts: row.int('attempts'),
    transactionTime: row.text('transaction_time'),
    ...(amount === undefined || resultType === undefined ? {} : { settle: { amount, resultType } }),
  };
}
