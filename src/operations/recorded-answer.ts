import { randomUUID } from 'node:crypto';
import { askForSame } from '../domain/asked.ts';
import type { Bet } from '../domain/bet.ts';
import { OutOfTime } from '../lib/within.ts';
import {
  type BetRequest,
  parseBet,
  type SettleRequest,
  type UnsettleRequest,
  type UpdateRequest,
} from '../protocol/messages.ts';
import type { RecordedOperation } from '../store/bets/journal.ts';
import type { Handled } from './answers.ts';
import { inTime } from './attempt.ts';
import type { BetCallback } from './bet-callback.ts';
import { recordOf } from './commit.ts';

/** The version of a bet with its place only: one write for its row, one for the outcome. */
const PLACED_VERSION = 2;

type Recorded =
  | BetCallback<SettleRequest>
  | BetCallback<UnsettleRequest>
  | BetCallback<UpdateRequest>;

/**
 * The final answer on record for this `requestId` and content: a replay or a late copy (docs/reference.md, Callbacks).
 * The method is not signed: a place's bytes sent by PUT are a conflict, not an unsettle.
 * @returns undefined if none is recorded
 * @throws GatewayError if the journal fails
 */
export async function recordedAnswer(callback: Recorded, bet: Bet): Promise<Handled | undefined> {
  const { callbacks, message } = callback;
  const { transactionId, requestId } = message;
  if (bet.version === 0) return undefined;
  const isPlace =
    message.operation === 'unsettle' &&
    callbacks.bets.hasPlace({ transactionId, requestId, body: callback.stored });
  // A bet's first operation has nothing recorded, and pays for no look-up.
  const isFirst = bet.place.kind !== 'unseen' && bet.version <= PLACED_VERSION;
  const underId =
    requestId === undefined || isFirst
      ? []
      : callbacks.bets.operationsUnder({ transactionId, requestId });
  const [isOfPlace, sameId] = await Promise.all([isPlace, underId]);
  if (isOfPlace) return callback.conflict(bet.owner?.operatorId, 'it is the request of its place');
  // Even during an operation in flight: it may be a new request of the same result, whose answer is not this copy's.
  const first = sameId.find((recorded) => isFinal(recorded) && asksForSame(recorded, message));
  return first?.answer && callback.repeated(bet, first.answer);
}

/**
 * Records a copy before its answer: its bytes must not count as new when another result or update stands.
 * @throws OutOfTime, GatewayError if it cannot be recorded: the service repeats it
 */
export async function onRecord(callback: Recorded, handled: Handled): Promise<Handled> {
  const { callbacks, message, transactionId, deadline } = callback;
  const { answer, operatorId } = handled;
  const isFinalCopy = handled.outcome === 'duplicate' && answer.status < 500;
  const { requestId } = message;
  if (!isFinalCopy || requestId === undefined) return handled;
  const sameId = await callbacks.bets.operationsUnder({ transactionId, requestId });
  if (sameId.some((recorded) => isFinal(recorded) && asksForSame(recorded, message))) {
    return handled;
  }
  const record = recordOf(callback, randomUUID(), answer);
  const isWritten = await inTime(deadline.answerMs(), () =>
    callbacks.bets.recordCopy({ transactionId, operatorId }, record, deadline),
  );
  if (!isWritten) throw new OutOfTime(0);
  return handled;
}

/** After 503 the service repeats; any other answer is final. */
function isFinal({ answer }: RecordedOperation): boolean {
  return answer !== undefined && answer.status < 500;
}

function asksForSame(recorded: RecordedOperation, message: BetRequest): boolean {
  const earlier = messageOf(recorded);
  return earlier !== undefined && askForSame(earlier, message);
}

function messageOf({ operation, body }: RecordedOperation): BetRequest | undefined {
  if (operation === 'place') return undefined;
  const parsed = parseBet('PUT', body);
  return parsed.ok ? parsed.message : undefined;
}
