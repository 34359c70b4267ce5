import type { Bet } from '../domain/bet.ts';
import {
  type BetRequest,
  parseBet,
  type SettleRequest,
  type UnsettleRequest,
} from '../protocol/messages.ts';
import type { RecordedOperation } from '../store/bets/journal.ts';
import type { BetCallback } from './bet-callback.ts';
import type { Callbacks, Handled } from './context.ts';
import { isSame } from './first-copy.ts';

/**
 * The answer to a settle or unsettle that is a captured request sent again, or a copy that was
 * overtaken: its `requestId` and content are on record with a final answer, so it is not a new
 * result (CONTRACT section 4). The method is not signed: a place's own bytes sent by PUT would be an
 * unsettle, and are a conflict.
 * @returns undefined for a result that is not on record
 * @throws GatewayError when the journal fails
 */
export async function recordedResult(
  callback: BetCallback<SettleRequest> | BetCallback<UnsettleRequest>,
  bet: Bet,
): Promise<Handled | undefined> {
  const { callbacks, message } = callback;
  // Indexed, and only where there can be something: the first settle of a bet pays nothing for it.
  const hadResult = bet.settlement.kind !== 'none' || bet.deliveries.length > 0;
  const isFirst = message.operation === 'settle' && !hadResult && bet.rollback.kind === 'none';
  if (message.requestId === undefined || bet.version === 0 || isFirst) return undefined;
  const sameId = (await callbacks.bets.operationsOf(message.transactionId)).filter(
    ({ requestId }) => requestId === message.requestId,
  );
  if (message.operation === 'unsettle' && sameId.some(({ operation }) => operation === 'place')) {
    return callback.conflict(bet.owner?.operatorId, 'the requestId is that of its place');
  }
  const first = sameId.find((recorded) => isFinal(recorded) && asksForSame(recorded, message));
  return first?.answer && callback.repeated(bet, first.answer);
}

/** A 503 asks for the same again; anything else the service has taken for the end. */
function isFinal({ answer }: RecordedOperation): boolean {
  return answer !== undefined && answer.status < 500;
}

/**
 * The token that a cashout of unknown outcome was first sent with, as it is kept.
 * @throws GatewayError when the journal fails
 */
export async function firstCashout(
  { bets }: Callbacks,
  message: SettleRequest,
): Promise<string | undefined> {
  const newestFirst = await bets.operationsOf(message.transactionId);
  const first = newestFirst.findLast(
    (recorded) => recorded.wasSent && !recorded.isConcluded && asksForSame(recorded, message),
  );
  return first && messageOf(first)?.token;
}

function asksForSame(recorded: RecordedOperation, message: BetRequest): boolean {
  const earlier = messageOf(recorded);
  return earlier !== undefined && isSame(earlier, message);
}

function messageOf({ operation, body }: RecordedOperation): BetRequest | undefined {
  if (operation === 'place') return undefined;
  const parsed = parseBet('PUT', body);
  return parsed.ok ? parsed.message : undefined;
}
