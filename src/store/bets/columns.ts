import type {
  AttemptedResult,
  LateOperation,
  PlaceState,
  ResultType,
  Rollback,
  Settlement,
} from '../../domain/bet.ts';
import type { PLACES } from '../../domain/bet-state.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { storable } from '../sql/storable-text.ts';
import type { LATE_KINDS, ROLLBACKS, SETTLEMENT_TYPES, SETTLEMENTS } from './rows.ts';

/** The columns of a bet's place, as written by a commit or an outcome. */
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

export interface SettlementColumns {
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

export interface RollbackColumns {
  readonly rollback: (typeof ROLLBACKS)[number];
  readonly time: string | null;
  readonly code: number | null;
  readonly message: string | null;
}

export function rollbackColumns(rollback: Rollback): RollbackColumns {
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

export interface LateColumns {
  readonly kind: (typeof LATE_KINDS)[number];
  readonly amount: string | null;
  readonly type: ResultType | null;
}

export function lateColumns(late: LateOperation): LateColumns {
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
