import type {
  AttemptedResult,
  Bet,
  LateOperation,
  PlaceState,
  ResultType,
  Rollback,
  Settlement,
} from '../../domain/bet.ts';
import type { PLACES } from '../../domain/bet-state.ts';
import type { FreedBet } from '../../domain/finish.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { type Parameters, parametersWithin } from '../sql/statement.ts';
import { storable } from '../sql/storable-text.ts';
import type { LATE_KINDS, ROLLBACKS, SETTLEMENT_TYPES, SETTLEMENTS } from './rows.ts';

/** Encodes a bet's state; `betOf` decodes it. Each statement that writes a bet writes all of it. */
const STATE = {
  place: ['text', ({ place }) => placeColumns(place).place],
  place_time: ['text', ({ place }) => placeColumns(place).time],
  place_code: ['int', ({ place }) => placeColumns(place).code],
  place_message: ['text', ({ place }) => placeColumns(place).message],
  place_answered_unknown: ['bool', ({ placeAnsweredUnknown }) => placeAnsweredUnknown],
  settlement: ['text', ({ settlement }) => settlementColumns(settlement).settlement],
  settlement_amount: ['text', ({ settlement }) => settlementColumns(settlement).amount],
  settlement_type: ['text', ({ settlement }) => settlementColumns(settlement).type],
  settlement_time: ['text', ({ settlement }) => settlementColumns(settlement).time],
  rollback: ['text', ({ rollback }) => rollbackColumns(rollback).rollback],
  rollback_time: ['text', ({ rollback }) => rollbackColumns(rollback).time],
  rollback_code: ['int', ({ rollback }) => rollbackColumns(rollback).code],
  rollback_message: ['text', ({ rollback }) => rollbackColumns(rollback).message],
  update_key: ['text', ({ update }) => update?.key ?? null],
  update_time: ['text', ({ update }) => update?.transactionTime ?? null],
  standing_operation_id: ['bigint', ({ standingOperationId }) => standingOperationId ?? null],
} satisfies Parameters<Bet>;

export const STATE_COLUMNS = Object.keys(STATE);

/** SQL that writes the whole state of a bet `b` from a row `i` of a batch. */
export const SET_STATE = STATE_COLUMNS.map((column) => `${column} = i.${column}`).join(', ');

/** The parameters of a bet's state for an input that contains the bet. */
export function stateParameters<Input>(betIn: (input: Input) => Bet): Parameters<Input> {
  return parametersWithin(STATE, betIn);
}

/** What the end of an attempt changes besides the state. */
const FREED = {
  late_kind: ['text', ({ bet }) => (bet.late ? lateColumns(bet.late.operation).kind : null)],
  late_amount: ['text', ({ bet }) => (bet.late ? lateColumns(bet.late.operation).amount : null)],
  late_type: ['text', ({ bet }) => (bet.late ? lateColumns(bet.late.operation).type : null)],
  late_now: ['bool', ({ isLateNow }) => isLateNow],
  confirm_left: ['int', ({ bet }) => bet.late?.confirmationsLeft ?? 0],
  confirm_seconds: [
    'float8',
    ({ confirmInMs }) => (confirmInMs === undefined ? null : confirmInMs / 1000),
  ],
} satisfies Parameters<FreedBet>;

export function freedParameters<Input>(freedIn: (input: Input) => FreedBet): Parameters<Input> {
  return {
    ...stateParameters((input: Input) => freedIn(input).bet),
    ...parametersWithin(FREED, freedIn),
  };
}

/** SQL that writes a bet without its attempt. A late effect stays after the last confirmation, for reconciliations. */
export const SET_FREED = `${SET_STATE},
           late_kind = CASE WHEN i.confirm_left = 0 THEN b.late_kind ELSE i.late_kind END,
           late_amount = CASE WHEN i.confirm_left = 0 THEN b.late_amount ELSE i.late_amount END,
           late_type = CASE WHEN i.confirm_left = 0 THEN b.late_type ELSE i.late_type END,
           late_at = CASE WHEN i.late_now THEN clock_timestamp() ELSE b.late_at END,
           confirm_left = i.confirm_left,
           confirm_at = CASE WHEN i.confirm_left > 0 THEN coalesce(
             clock_timestamp() + make_interval(secs => i.confirm_seconds), b.confirm_at) END,
           busy_operation = NULL, busy_attempt = NULL, busy_until = NULL, version = b.version + 1`;

/** The columns of a bet's place that a commit or an outcome writes. */
export interface PlaceColumns {
  readonly place: (typeof PLACES)[number];
  readonly time: string | null;
  readonly code: number | null;
  readonly message: string | null;
}

export function placeColumns(place: PlaceState): PlaceColumns {
  const none = { time: null, code: null, message: null };
  switch (place.kind) {
    case 'unseen':
    case 'unknown':
      return { ...none, place: place.kind };
    case 'inFlight':
      return { ...none, place: 'in_flight' };
    case 'notSent':
      return { ...none, place: 'not_sent' };
    case 'accepted':
      return { ...none, place: 'accepted', time: place.transactionTime };
    case 'declined':
      return { ...none, place: 'declined', code: place.code, message: storable(place.message) };
    default:
      return unreachable(place);
  }
}

interface SettlementColumns {
  readonly settlement: (typeof SETTLEMENTS)[number];
  readonly amount: string | null;
  readonly type: (typeof SETTLEMENT_TYPES)[number] | null;
  readonly time: string | null;
}

export function settlementColumns(settlement: Settlement): SettlementColumns {
  const none = { amount: null, type: null, time: null };
  switch (settlement.kind) {
    case 'none':
      return { ...none, settlement: 'none' };
    case 'unknown':
      return { ...none, ...attemptedColumns(settlement.attempted), settlement: 'unknown' };
    case 'unsettled':
      return { ...none, settlement: 'unsettled', time: settlement.transactionTime };
    case 'settled':
      return {
        settlement: 'settled',
        amount: settlement.amount,
        type: settlement.resultType,
        time: settlement.transactionTime,
      };
    default:
      return unreachable(settlement);
  }
}

function attemptedColumns(attempted: AttemptedResult): Pick<SettlementColumns, 'amount' | 'type'> {
  switch (attempted.kind) {
    case 'several':
      return { amount: null, type: null };
    case 'unsettle':
      return { amount: null, type: 'unsettle' };
    case 'settle':
      return { amount: attempted.amount, type: attempted.resultType };
    default:
      return unreachable(attempted);
  }
}

interface RollbackColumns {
  readonly rollback: (typeof ROLLBACKS)[number];
  readonly time: string | null;
  readonly code: number | null;
  readonly message: string | null;
}

function rollbackColumns(rollback: Rollback): RollbackColumns {
  const none = { time: null, code: null, message: null };
  switch (rollback.kind) {
    case 'none':
      return { ...none, rollback: 'none' };
    case 'promised':
      return { ...none, rollback: 'promised', time: rollback.transactionTime };
    case 'confirmed':
      return {
        rollback: 'confirmed',
        time: rollback.transactionTime,
        code: rollback.refusal?.code ?? null,
        message: rollback.refusal === undefined ? null : storable(rollback.refusal.message),
      };
    default:
      return unreachable(rollback);
  }
}

interface LateColumns {
  readonly kind: (typeof LATE_KINDS)[number];
  readonly amount: string | null;
  readonly type: ResultType | null;
}

function lateColumns(late: LateOperation): LateColumns {
  switch (late.kind) {
    case 'place':
    case 'unsettle':
    case 'several':
      return { kind: late.kind, amount: null, type: null };
    case 'settle':
      return { kind: 'settle', amount: late.amount, type: late.resultType };
    default:
      return unreachable(late);
  }
}
