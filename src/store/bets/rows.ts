import type {
  AttemptedResult,
  Bet,
  BetOwner,
  OpenDelivery,
  PlaceState,
  ResultType,
  Rollback,
  Settlement,
} from '../../domain/bet.ts';
import type { BetOperation, DeliverableOperation } from '../../domain/operation.ts';
import { unreachable } from '../../domain/unreachable.ts';

/** A row of `bets` joined with its player, its lease judged by PostgreSQL's clock. */
export interface BetRow {
  readonly transaction_id: string;
  readonly operator_id: string | null;
  readonly player_id: string | null;
  readonly session_id: string | null;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly generation: number;
  readonly place: 'unseen' | 'in_flight' | 'accepted' | 'declined' | 'not_sent' | 'unknown';
  readonly place_time: string | null;
  readonly place_code: number | null;
  readonly place_message: string | null;
  readonly settlement: 'none' | 'settled' | 'unsettled' | 'unknown';
  readonly settlement_amount: string | null;
  readonly settlement_type: ResultType | 'unsettle' | null;
  readonly settlement_time: string | null;
  readonly rollback: 'none' | 'promised' | 'confirmed';
  readonly rollback_time: string | null;
  readonly rollback_code: number | null;
  readonly rollback_message: string | null;
  readonly update_key: string | null;
  readonly update_time: string | null;
  readonly busy_operation: BetOperation | null;
  readonly busy_attempt: string | null;
  readonly lapsed: boolean | null;
  readonly version: number;
  readonly user_id: string | null;
  readonly operator_user: string | null;
  readonly deliveries: readonly DeliveryJson[] | null;
}

interface DeliveryJson {
  readonly id: string;
  readonly operation: DeliverableOperation;
  readonly attempts: number;
  readonly settleAmount: string | null;
  readonly settleType: ResultType | null;
  readonly transactionTime: string;
}

export const SELECT_BET = `
  SELECT b.transaction_id, b.operator_id, b.player_id, b.session_id, b.amount, b.currency,
         greatest(b.generation, (SELECT h.released FROM operator_holds h
                                  WHERE h.operator_id = b.operator_id)) AS generation, b.place, b.place_time, b.place_code, b.place_message,
         b.settlement, b.settlement_amount, b.settlement_type, b.settlement_time,
         b.rollback, b.rollback_time, b.rollback_code, b.rollback_message,
         b.update_key, b.update_time, b.busy_operation, b.busy_attempt,
         b.busy_until <= clock_timestamp() AS lapsed, b.version, p.user_id, p.operator_user,
         (SELECT json_agg(json_build_object(
                   'id', d.id::text, 'operation', d.operation, 'attempts', d.attempts,
                   'settleAmount', d.settle_amount, 'settleType', d.settle_type,
                   'transactionTime', d.transaction_time) ORDER BY d.id)
            FROM deliveries d
           WHERE d.transaction_id = b.transaction_id AND d.state IN ('live', 'pending')
             AND d.purpose = 'promise'
         ) AS deliveries
    FROM bets b LEFT JOIN players p ON p.id = b.player_id
   WHERE b.transaction_id = $1`;

/** @throws Error when the row breaks a rule that the table's checks do not hold */
export function betOf(row: BetRow): Bet {
  return {
    transactionId: row.transaction_id,
    owner: ownerOf(row),
    sessionId: row.session_id ?? undefined,
    amount: row.amount ?? undefined,
    currency: row.currency ?? undefined,
    generation: row.generation,
    place: placeOf(row),
    settlement: settlementOf(row),
    rollback: rollbackOf(row),
    update:
      row.update_key === null
        ? undefined
        : { key: row.update_key, transactionTime: need(row.update_time, row) },
    busy:
      row.busy_operation === null
        ? undefined
        : {
            operation: row.busy_operation,
            attemptId: need(row.busy_attempt, row),
            lapsed: row.lapsed === true,
          },
    deliveries: (row.deliveries ?? []).map(deliveryOf),
    version: row.version,
  };
}

function ownerOf(row: BetRow): BetOwner | undefined {
  if (row.operator_id === null) return undefined;
  return {
    operatorId: row.operator_id,
    playerId: need(row.player_id, row),
    userId: need(row.user_id, row),
    operatorUser: need(row.operator_user, row),
  };
}

function placeOf(row: BetRow): PlaceState {
  switch (row.place) {
    case 'unseen':
    case 'unknown':
      return { kind: row.place };
    case 'in_flight':
      return { kind: 'inFlight' };
    case 'not_sent':
      return { kind: 'notSent' };
    case 'accepted':
      return { kind: 'accepted', transactionTime: need(row.place_time, row) };
    case 'declined':
      return {
        kind: 'declined',
        code: need(row.place_code, row),
        message: need(row.place_message, row),
      };
    default:
      return unreachable(row.place);
  }
}

function settlementOf(row: BetRow): Settlement {
  switch (row.settlement) {
    case 'none':
      return { kind: 'none' };
    case 'unknown':
      return { kind: 'unknown', attempted: attemptedOf(row) };
    case 'unsettled':
      return { kind: 'unsettled', transactionTime: need(row.settlement_time, row) };
    case 'settled':
      return {
        kind: 'settled',
        amount: need(row.settlement_amount, row),
        resultType: resultTypeOf(row),
        transactionTime: need(row.settlement_time, row),
      };
    default:
      return unreachable(row.settlement);
  }
}

function resultTypeOf(row: BetRow): ResultType {
  const type = need(row.settlement_type, row);
  if (type === 'unsettle') throw new Error(`bet ${row.transaction_id} is settled as an unsettle`);
  return type;
}

function attemptedOf(row: BetRow): AttemptedResult {
  if (row.settlement_type === null) return { kind: 'several' };
  if (row.settlement_type === 'unsettle') return { kind: 'unsettle' };
  const amount = need(row.settlement_amount, row);
  return { kind: 'settle', amount, resultType: row.settlement_type };
}

function rollbackOf(row: BetRow): Rollback {
  switch (row.rollback) {
    case 'none':
      return { kind: 'none' };
    case 'promised':
      return { kind: 'promised', transactionTime: need(row.rollback_time, row) };
    case 'confirmed':
      return {
        kind: 'confirmed',
        transactionTime: need(row.rollback_time, row),
        ...(row.rollback_code === null
          ? {}
          : { refusal: { code: row.rollback_code, message: row.rollback_message ?? '' } }),
      };
    default:
      return unreachable(row.rollback);
  }
}

function deliveryOf(json: DeliveryJson): OpenDelivery {
  return {
    id: json.id,
    operation: json.operation,
    attempts: json.attempts,
    transactionTime: json.transactionTime,
    ...(json.settleAmount === null || json.settleType === null
      ? {}
      : { settle: { amount: json.settleAmount, resultType: json.settleType } }),
  };
}

function need<T>(value: T | null, row: BetRow): T {
  if (value === null) throw new Error(`bet ${row.transaction_id} lacks a column its state needs`);
  return value;
}

/** The columns a change of a bet writes, in one order for insert and update. */
export const STATE_COLUMNS = [
  'place',
  'place_time',
  'place_code',
  'place_message',
  'settlement',
  'settlement_amount',
  'settlement_type',
  'settlement_time',
  'rollback',
  'rollback_time',
  'rollback_code',
  'rollback_message',
  'update_key',
  'update_time',
  'busy_operation',
  'busy_attempt',
] as const;

/** The values of `STATE_COLUMNS`, in that order. */
export function stateValues(bet: Bet): readonly (string | number | null)[] {
  return [
    ...placeValues(bet.place),
    ...settlementValues(bet.settlement),
    ...rollbackValues(bet.rollback),
    bet.update?.key ?? null,
    bet.update?.transactionTime ?? null,
    bet.busy?.operation ?? null,
    bet.busy?.attemptId ?? null,
  ];
}

/** place, place_time, place_code, place_message */
export function placeValues(
  place: PlaceState,
): readonly [BetRow['place'], string | null, number | null, string | null] {
  switch (place.kind) {
    case 'unseen':
    case 'unknown':
      return [place.kind, null, null, null];
    case 'inFlight':
      return ['in_flight', null, null, null];
    case 'notSent':
      return ['not_sent', null, null, null];
    case 'accepted':
      return ['accepted', place.transactionTime, null, null];
    case 'declined':
      return ['declined', null, place.code, place.message];
    default:
      return unreachable(place);
  }
}

/** settlement, settlement_amount, settlement_type, settlement_time */
export function settlementValues(settlement: Settlement): readonly (string | null)[] {
  switch (settlement.kind) {
    case 'none':
      return ['none', null, null, null];
    case 'unknown':
      return ['unknown', ...attemptedValues(settlement.attempted), null];
    case 'unsettled':
      return ['unsettled', null, null, settlement.transactionTime];
    case 'settled':
      return ['settled', settlement.amount, settlement.resultType, settlement.transactionTime];
    default:
      return unreachable(settlement);
  }
}

function attemptedValues(attempted: AttemptedResult): readonly [string | null, string | null] {
  switch (attempted.kind) {
    case 'several':
      return [null, null];
    case 'unsettle':
      return [null, 'unsettle'];
    case 'settle':
      return [attempted.amount, attempted.resultType];
    default:
      return unreachable(attempted);
  }
}

/** rollback, rollback_time, rollback_code, rollback_message */
export function rollbackValues(rollback: Rollback): readonly (string | number | null)[] {
  switch (rollback.kind) {
    case 'none':
      return ['none', null, null, null];
    case 'promised':
      return ['promised', rollback.transactionTime, null, null];
    case 'confirmed':
      return [
        'confirmed',
        rollback.transactionTime,
        rollback.refusal?.code ?? null,
        rollback.refusal?.message ?? null,
      ];
    default:
      return unreachable(rollback);
  }
}
