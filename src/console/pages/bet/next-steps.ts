import { membersOf } from '../../parts/exact-json.ts';
import { refusedResult, type ShownBet, type ShownOperation } from './bet.ts';

/** What a person can do about a bet now, and why. */
export type NextStep =
  | { readonly kind: 'nothing'; readonly why: string }
  /** Its result is unknown: a person has to look into the wallet's books, and says what they hold. */
  | { readonly kind: 'resolveResult'; readonly why: string }
  /** No button helps: a person has to ask the operator, the service or both. */
  | { readonly kind: 'ask'; readonly why: string }
  | {
      readonly kind: 'retry' | 'retryOrResolve';
      readonly deliveryId: string;
      readonly operation: string;
      readonly why: string;
    };

/** One step for each delivery that is waiting, and for a doubt about the result; otherwise why there is none. */
export function nextSteps(bet: ShownBet): readonly NextStep[] {
  const steps = [...bet.operations.flatMap(stepOf), ...stepOfDoubt(bet)];
  return steps.length > 0 ? steps : [withoutButton(bet)];
}

/** While a delivery of a result waits, its answer may still end the doubt. */
function stepOfDoubt(bet: ShownBet): readonly NextStep[] {
  const isWaiting = bet.operations.some(
    ({ operation, delivery }) =>
      operation !== 'update' && (delivery?.state === 'pending' || delivery?.state === 'held'),
  );
  if (bet.state !== 'settlement_unknown' || bet.inFlight !== null || isWaiting) return [];
  // The service got a 200 and does not repeat it; nobody can resolve it while its delivery is open.
  if (bet.operations.some(isOwedResult)) return [];
  return [
    {
      kind: 'resolveResult',
      why: 'The service repeats a result until the wallet answers it. If it no longer does, ask the operator what its wallet holds, and the service to send the result anew. If it cannot, have the wallet’s own books put right, and say what they hold then.',
    },
  ];
}

/** A dead letter of a result that the service was answered 200 for, itself or by a copy of its request. */
function isOwedResult(
  one: ShownOperation,
  at: number,
  operations: readonly ShownOperation[],
): boolean {
  const isResult = one.operation === 'settle' || one.operation === 'unsettle';
  if (!isResult || one.delivery?.state !== 'dead') return false;
  const copies = operations.slice(at + 1).filter((later) => askForSame(later, one));
  return [one, ...copies].some(({ answer }) => answer?.status === 200);
}

function askForSame(one: ShownOperation, other: ShownOperation): boolean {
  const [members, otherMembers] = [membersOf(one.request), membersOf(other.request)];
  return (
    one.operation === other.operation &&
    members.amount === otherMembers.amount &&
    members.resultType === otherMembers.resultType
  );
}

function withoutButton(bet: ShownBet): NextStep {
  const why = bet.inFlight === null ? whomToAsk(bet) : undefined;
  return why === undefined ? { kind: 'nothing', why: whyNothing(bet) } : { kind: 'ask', why };
}

function whomToAsk(bet: ShownBet): string | undefined {
  if (bet.state !== 'accepted' && bet.state !== 'settled') return undefined;
  const refused = refusedResult(bet);
  // A player may ask for another cashout, and the bet's result comes in any case.
  if (refused === undefined || refused === 'cashout') return undefined;
  return 'The wallet refused what the service sent about the result, and the service knows that: it does not repeat it by itself. Ask the operator why; once its wallet takes it, ask the service to send it anew.';
}

function stepOf({ delivery, operation }: ShownOperation): readonly NextStep[] {
  if (delivery === null) return [];
  const { id: deliveryId, state } = delivery;
  switch (state) {
    case 'dead':
      return [
        {
          kind: 'retryOrResolve',
          deliveryId,
          operation,
          why: whyDead(operation),
        },
      ];
    case 'held':
      return [
        {
          kind: 'retry',
          deliveryId,
          operation,
          why: `The ${operation} is held: its operator takes no deliveries now, or the bet is in the books of another wallet and has to be released. The operator's page tells which. It does not age meanwhile.`,
        },
      ];
    case 'pending':
      return [
        {
          kind: 'retry',
          deliveryId,
          operation,
          why: `The ${operation} is retried by itself, so nothing has to be done. A retry now only saves the wait.`,
        },
      ];
    default:
      return [];
  }
}

/** A result may also be a dead letter because its wallet would execute a repeat twice (`unknownRepeats: hold`). */
function whyDead(operation: string): string {
  return operation === 'settle' || operation === 'unsettle'
    ? `The ${operation} is dead. Look into the wallet's own books first: if they hold this result, resolve it; if not, retry it once the wallet works again.`
    : `The ${operation} is dead. Retry it once the wallet works again; resolve it when the wallet's own books have been put right by hand.`;
}

function whyNothing(bet: ShownBet): string {
  if (bet.inFlight !== null) return 'An operation is under way: wait for its outcome.';
  switch (bet.state) {
    case 'unknown':
      return 'The service rolls the bet back, or else the gateway does by itself.';
    case 'accepted':
      return 'The bet is open: the service sends its result when there is one. One that could not be sent to the wallet is not listed here: the service repeats it, and the log (callback.handled with this bet) says what it waits for.';
    default:
      return 'Nothing is open: every operation of this bet is finished.';
  }
}
