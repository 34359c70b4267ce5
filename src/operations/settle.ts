import { randomUUID } from 'node:crypto';
import type { Bet } from '../domain/bet.ts';
import { decideSettle, mayBePromised } from '../domain/decide.ts';
import type { SettleRequest } from '../protocol/messages.ts';
import type { Handled } from './answers.ts';
import { tokenRefused, unavailable, unknownBet } from './answers.ts';
import { inTime } from './attempt.ts';
import type { BetCallback } from './bet-callback.ts';
import { recordOf } from './commit.ts';
import { firstCashout } from './first-request.ts';
import { onRecord, recordedAnswer } from './recorded-answer.ts';
import { type ResultTerms, recordUnsentResult, sendResult, takeOverResult } from './result.ts';

/**
 * Answered from the journal if the bet has this result, otherwise sent; undelivered, 503 makes the service repeat it.
 * @throws GatewayError, OutOfTime if the journal failed
 */
export async function settle(settling: BetCallback<SettleRequest>): Promise<Handled> {
  const handled = await settling.handle(async (found) =>
    found.kind === 'nobody' ? unknownBet() : await settleBet(settling, found.bet),
  );
  return await onRecord(settling, handled);
}

async function settleBet(
  settling: BetCallback<SettleRequest>,
  bet: Bet,
): Promise<Handled | 'moved'> {
  const { message } = settling;
  const isCashout = message.resultType === 'cashout';
  const recorded = await recordedAnswer(settling, bet);
  if (recorded !== undefined) return recorded;
  const decision = decideSettle(bet, message);
  switch (decision.kind) {
    case 'wait':
      if (await settling.wait(bet)) return 'moved';
      return unavailable('error', bet.owner?.operatorId, { reason: 'in_flight' });
    case 'send': {
      const cashout = isCashout ? await cashoutToken(settling, bet) : NO_CASHOUT;
      if ('answer' in cashout) return await recordRefusedCashout(settling, bet, cashout);
      return await sendResult(settling, bet, { ...cashout, mayQueue: mayQueue(settling, bet) });
    }
    case 'takeOver':
      // A cashout is never promised: only the wallet can accept it, while its player waits.
      if (isCashout) return await refusedBehindQueue(settling, bet);
      return await takeOverResult(settling, bet, decision.supersedes);
    case 'nothingToSend':
      return await recordUnsentResult(settling, bet, decision.supersedes);
    default:
      return settling.answerKnown(bet, decision);
  }
}

type CashoutToken = Pick<ResultTerms, 'cashoutToken'>;
const NO_CASHOUT: CashoutToken = { cashoutToken: undefined };

/** Whether this operator's results are promised while they cannot be delivered. */
function mayQueue({ callbacks, message }: BetCallback<SettleRequest>, bet: Bet): boolean {
  const operator = bet.owner && callbacks.configuration().operators.get(bet.owner.operatorId);
  return operator?.settle.onFailure === 'queue' && mayBePromised(bet, message);
}

/**
 * A cashout needs a live token of its player, from any session, before its first attempt. Its repeat carries the first
 * one's token: the wallet may have paid, and the session may have ended.
 */
async function cashoutToken(
  { callbacks, message }: BetCallback<SettleRequest>,
  bet: Bet,
): Promise<CashoutToken | Handled> {
  const operatorId = bet.owner?.operatorId;
  if (bet.settlement.kind === 'unknown') {
    const first = await firstCashout(callbacks.bets, message);
    const lookup = first === undefined ? undefined : await callbacks.sessions.findKept(first);
    if (lookup !== undefined && lookup.kind !== 'unknown') {
      const { owner, operatorToken } = lookup.session;
      if (owner.playerId === bet.owner?.playerId) return { cashoutToken: operatorToken };
    }
  }
  if (message.token === undefined) return tokenRefused({ kind: 'unknown' }, operatorId);
  const lookup = await callbacks.sessions.findCertain(message.token);
  if (lookup.kind === 'unknown' || lookup.session.owner.playerId !== bet.owner?.playerId) {
    return tokenRefused({ kind: 'unknown' }, operatorId);
  }
  if (lookup.kind !== 'live') return tokenRefused(lookup, operatorId);
  return { cashoutToken: lookup.session.operatorToken };
}

/** A cashout behind waiting results: refused without a live token, otherwise answered 503. */
async function refusedBehindQueue(
  settling: BetCallback<SettleRequest>,
  bet: Bet,
): Promise<Handled | 'moved'> {
  const token = await cashoutToken(settling, bet);
  if ('answer' in token) return await recordRefusedCashout(settling, bet, token);
  return unavailable('not_sent', bet.owner?.operatorId, { reason: 'settle_waiting' });
}

/**
 * Records the refusal first, for a copy that found the token live but has not begun.
 * @returns 'moved' if the bet changed since it was read: a copy may have been sent
 * @throws OutOfTime, GatewayError if it cannot be recorded
 */
async function recordRefusedCashout(
  settling: BetCallback<SettleRequest>,
  bet: Bet,
  refusal: Handled,
): Promise<Handled | 'moved'> {
  const { callbacks, deadline } = settling;
  const record = recordOf(settling, randomUUID(), refusal.answer);
  const isWritten = await inTime(deadline.answerMs(), () =>
    callbacks.bets.recordRefusal(bet, record, deadline),
  );
  return isWritten ? refusal : 'moved';
}
