import type { Bet } from '../domain/bet.ts';
import { decideUnsettle } from '../domain/decide.ts';
import type { UnsettleRequest } from '../protocol/messages.ts';
import type { Handled } from './answers.ts';
import { unavailable, unknownBet } from './answers.ts';
import type { BetCallback } from './bet-callback.ts';
import { onRecord, recordedAnswer } from './recorded-answer.ts';
import { recordUnsentResult, sendResult, takeOverResult } from './result.ts';

/**
 * Answered from the journal if the bet is unsettled, otherwise sent; undelivered, 503 makes the service repeat it.
 * @throws GatewayError, OutOfTime if the journal failed
 */
export async function unsettle(unsettling: BetCallback<UnsettleRequest>): Promise<Handled> {
  const handled = await unsettling.handle(async (found) =>
    found.kind === 'nobody' ? unknownBet() : await unsettleBet(unsettling, found.bet),
  );
  return await onRecord(unsettling, handled);
}

async function unsettleBet(
  unsettling: BetCallback<UnsettleRequest>,
  bet: Bet,
): Promise<Handled | 'moved'> {
  const recorded = await recordedAnswer(unsettling, bet);
  if (recorded !== undefined) return recorded;
  const decision = decideUnsettle(bet, unsettling.message);
  switch (decision.kind) {
    case 'wait':
      if (await unsettling.wait(bet)) return 'moved';
      return unavailable('error', bet.owner?.operatorId, { reason: 'in_flight' });
    case 'send':
      return await sendResult(unsettling, bet, { cashoutToken: undefined, mayQueue: false });
    case 'takeOver':
      return await takeOverResult(unsettling, bet, decision.supersedes);
    case 'nothingToSend':
      return await recordUnsentResult(unsettling, bet, decision.supersedes);
    default:
      return unsettling.answerKnown(bet, decision);
  }
}
