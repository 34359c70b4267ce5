import { sameAmount } from './amount.ts';
import {
  type Bet,
  holdsNoResult,
  isPlaceUnknown,
  neverHeld,
  type OpenDelivery,
  openMoneyDeliveries,
  type ResultType,
  type Settlement,
} from './bet.ts';
import { isOtherCurrency, type SaidTerms } from './terms.ts';
import { unreachable } from './unreachable.ts';

/* What to do with an operation, by the bet's state alone. Pure: each row of the contract's table is one test. */

/** The recorded success. */
export interface Repeat {
  readonly kind: 'repeat';
  readonly transactionTime: string;
}

/** The recorded refusal. */
interface RepeatRefusal {
  readonly kind: 'repeatRefusal';
  readonly code: number;
  readonly message: string;
}

/** Contradicts the record: code 5, nothing sent (I10). */
interface Conflict {
  readonly kind: 'conflict';
  readonly why: string;
}

/** Another operation of the bet, or a copy of this one, is in flight. */
interface Wait {
  readonly kind: 'wait';
}

interface Send {
  readonly kind: 'send';
}

/** The ids of the queued deliveries that become obsolete. */
interface Superseding {
  readonly supersedes: readonly string[];
}

/** The wallet already holds the requested state: confirmed without a call. */
interface NothingToSend extends Superseding {
  readonly kind: 'nothingToSend';
}

/** Has to wait behind a promise: becomes a delivery. */
interface TakeOver extends Superseding {
  readonly kind: 'takeOver';
}

export type PlaceDecision =
  | Repeat
  | RepeatRefusal
  | Conflict
  /** After its rollback: code 8, nothing sent (I6). */
  | { readonly kind: 'fenced' }
  | Wait
  | Send;

export type ResultDecision =
  | Repeat
  | Conflict
  /** The place's outcome is unknown: until it is known, a result is neither paid nor refused. */
  | { readonly kind: 'unresolved' }
  | Wait
  | Send
  | NothingToSend
  | TakeOver;

export type RollbackDecision =
  | Repeat
  | RepeatRefusal
  | Wait
  | (Send & Superseding)
  | NothingToSend
  | TakeOver;

interface SendUpdate extends Send, Superseding {
  /** The update in force if the wallet refuses this one; undefined: none. */
  readonly inForce: Bet['update'];
}

export type UpdateDecision = Repeat | Wait | SendUpdate | NothingToSend;

const SEND: Send = { kind: 'send' };
const WAIT: Wait = { kind: 'wait' };
const SYSTEM_ERROR: RepeatRefusal = { kind: 'repeatRefusal', code: 100, message: 'System error' };

/** What a place must repeat exactly. */
interface PlaceTerms {
  readonly amount: string;
  readonly currency: string;
  readonly userId: string;
}

/** For a place whose `transactionId` is already in the journal. */
export function decidePlace(bet: Bet, place: PlaceTerms): PlaceDecision {
  const difference = placeDifference(bet, place);
  if (difference !== undefined) {
    return { kind: 'conflict', why: `the bet is known with another ${difference}` };
  }
  if (bet.rollback.kind !== 'none') return { kind: 'fenced' };
  switch (bet.place.kind) {
    case 'unseen':
      return bet.busy === undefined ? SEND : WAIT;
    case 'inFlight':
      return WAIT;
    case 'accepted':
      // The service's answer counts: it was 100, because the outcome was committed too late.
      return bet.placeAnsweredUnknown
        ? SYSTEM_ERROR
        : { kind: 'repeat', transactionTime: bet.place.transactionTime };
    case 'declined':
      return bet.placeAnsweredUnknown
        ? SYSTEM_ERROR
        : { kind: 'repeatRefusal', code: bet.place.code, message: bet.place.message };
    case 'notSent':
    case 'unknown':
      return SYSTEM_ERROR;
    default:
      return unreachable(bet.place);
  }
}

function placeDifference(
  bet: Bet,
  place: PlaceTerms,
): 'amount' | 'currency' | 'player' | undefined {
  if (bet.amount !== undefined && !sameAmount(bet.amount, place.amount)) return 'amount';
  if (bet.currency !== undefined && bet.currency !== place.currency) return 'currency';
  if (bet.owner !== undefined && bet.owner.userId !== place.userId) return 'player';
  return undefined;
}

/** A settle, resettle or cashout. "The same" compares with the bet's state, not with its history. */
export function decideSettle(
  bet: Bet,
  settle: SaidTerms & { readonly amount: string; readonly resultType: ResultType },
): ResultDecision {
  const same = (other: { amount: string; resultType: ResultType }) =>
    other.resultType === settle.resultType && sameAmount(other.amount, settle.amount);
  const stands =
    bet.settlement.kind === 'settled' && same(bet.settlement) ? bet.settlement : undefined;
  return decideResult(bet, settle, {
    repeated: () => stands,
    queuedTwin: (last) => last.settle !== undefined && same(last.settle),
    // A correction replaces a result that no wallet has seen. If the wallet holds this very result, only the waiting
    // unsettle is cancelled: sent again, the result could be paid twice.
    overUnattempted: (ids) => ({
      kind: stands === undefined ? 'takeOver' : 'nothingToSend',
      supersedes: ids,
    }),
  });
}

/** Only a first result: a wallet may refuse a changed one (20, 21). No cashout: its player waits for the wallet. */
export function mayBePromised(bet: Bet, settle: { readonly resultType: ResultType }): boolean {
  return bet.settlement.kind === 'none' && settle.resultType !== 'cashout';
}

/** An unsettle. It is sent even for a bet that was never settled. */
export function decideUnsettle(bet: Bet, unsettle: SaidTerms): ResultDecision {
  return decideResult(bet, unsettle, {
    repeated: () => (bet.settlement.kind === 'unsettled' ? bet.settlement : undefined),
    queuedTwin: (last) => last.operation === 'unsettle',
    // A settle that no wallet has seen is cancelled; an earlier result that a wallet may hold must still be undone
    // there.
    overUnattempted: (ids) => ({
      kind: holdsNoResult(bet) ? 'nothingToSend' : 'takeOver',
      supersedes: ids,
    }),
  });
}

/**
 * The bet's result after an operation that only cancels what no wallet has seen: the standing result again cancels a
 * promised unsettle, an unsettle cancels a promised settle.
 */
export function resultUnsent(
  standing: Settlement,
  operation: 'settle' | 'unsettle',
  transactionTime: string,
): Extract<Settlement, { kind: 'settled' | 'unsettled' }> {
  const isKept = operation === 'settle' && standing.kind === 'settled';
  return isKept ? standing : { kind: 'unsettled', transactionTime };
}

/** Settle and unsettle: the bet's state decides first, then what is pending, then what is known. */
function decideResult(
  bet: Bet,
  said: SaidTerms,
  rules: {
    readonly repeated: () => { readonly transactionTime: string } | undefined;
    readonly queuedTwin: (last: OpenDelivery) => boolean;
    readonly overUnattempted: (ids: readonly string[]) => NothingToSend | TakeOver;
  },
): ResultDecision {
  if (bet.rollback.kind !== 'none') return { kind: 'conflict', why: 'the bet is rolled back' };
  if (neverHeld(bet)) return { kind: 'conflict', why: 'the bet was never accepted' };
  if (isOtherCurrency(bet, said))
    return { kind: 'conflict', why: 'the bet is in another currency' };
  if (bet.busy !== undefined) return WAIT;
  if (isPlaceUnknown(bet)) return { kind: 'unresolved' };

  const queued = openMoneyDeliveries(bet);
  const last = queued.at(-1);
  if (last !== undefined) {
    if (rules.queuedTwin(last)) return { kind: 'repeat', transactionTime: last.transactionTime };
    if (queued.every((delivery) => delivery.attempts === 0)) {
      return rules.overUnattempted(queued.map((delivery) => delivery.id));
    }
    // Nothing may overtake an operation that a wallet may have seen.
    return { kind: 'takeOver', supersedes: [] };
  }
  const repeated = rules.repeated();
  return repeated === undefined
    ? SEND
    : { kind: 'repeat', transactionTime: repeated.transactionTime };
}

/** A rollback: never refused, and nothing of its bet comes after it. */
export function decideRollback(bet: Bet): RollbackDecision {
  // A copy waits for the first while that is in flight; later copies are answered from the journal.
  if (bet.busy?.operation === 'rollback') return WAIT;
  if (bet.rollback.kind === 'confirmed' && bet.rollback.refusal !== undefined) {
    return { kind: 'repeatRefusal', ...bet.rollback.refusal };
  }
  if (bet.rollback.kind !== 'none') {
    return { kind: 'repeat', transactionTime: bet.rollback.transactionTime };
  }
  const meaningless = bet.deliveries
    .filter((delivery) => delivery.operation === 'update' || delivery.attempts === 0)
    .map((delivery) => delivery.id);
  if (neverHeld(bet)) return { kind: 'nothingToSend', supersedes: meaningless };
  if (bet.busy !== undefined) return WAIT;
  const attempted = openMoneyDeliveries(bet).some((delivery) => delivery.attempts > 0);
  return { kind: attempted ? 'takeOver' : 'send', supersedes: meaningless };
}

/**
 * Unseen results that a rollback cancels during an operation in flight. Not updates: one may be that operation, and the
 * worker skips those that a rollback has overtaken.
 */
export function calledOffInFlight(bet: Bet): readonly string[] {
  return openMoneyDeliveries(bet)
    .filter((delivery) => delivery.attempts === 0)
    .map((delivery) => delivery.id);
}

/** An update replaces older promises and never waits. @param key canonical coefficients: equal keys, same update */
export function decideUpdate(bet: Bet, key: string): UpdateDecision {
  const repeat = repeatedUpdate(bet, key);
  if (bet.rollback.kind !== 'none' || neverHeld(bet)) {
    return repeat ?? { kind: 'nothingToSend', supersedes: [] };
  }
  if (bet.busy !== undefined) return WAIT;
  if (repeat !== undefined) return repeat;
  const older = bet.deliveries
    .filter((delivery) => delivery.operation === 'update')
    .map((delivery) => delivery.id);
  // An update that never reached a wallet cannot be in force again.
  return { kind: 'send', supersedes: older, inForce: older.length === 0 ? bet.update : undefined };
}

/** For a copy that cannot wait: the bet's last update, in flight and therefore promised. */
export function repeatedUpdate(bet: Bet, key: string): Repeat | undefined {
  return bet.update?.key === key
    ? { kind: 'repeat', transactionTime: bet.update.transactionTime }
    : undefined;
}
