import { decideUnsettle } from '../domain/decide.ts';
import { isoTime } from '../protocol/answers.ts';
import type { UnsettleRequest } from '../protocol/messages.ts';
import { unavailable, unknownBet } from './answers.ts';
import type { BetCallback } from './bet-callback.ts';
import type { Handled } from './handled.ts';
import { onRecord, recordedAnswer } from './recorded-answer.ts';
import { recordUnsentResult, sendResult, takeOverResult } from './result-operation.ts';

/**
 * An unsettle: answered from the journal if the bet is already unsettled, else sent to the wallet;
 * what could not be delivered is answered 503, so that the service repeats it.
 * @throws GatewayError, OutOfTime when the journal failed
 */
export async function unsettle(unsettling: BetCallback<UnsettleRequest>): Promise<Handled> {
  return await onRecord(unsettling, await unsettleOrRepeat(unsettling));
}

async function unsettleOrRepeat(unsettling: BetCallback<UnsettleRequest>): Promise<Handled> {
  for (;;) {
    const found = await unsettling.find();
    if (found.kind === 'answered') return found.handled;
    if (found.kind === 'nobody') return unknownBet();
    const { bet } = found;
    const recorded = await recordedAnswer(unsettling, bet);
    if (recorded !== undefined) return recorded;

    const decision = decideUnsettle(bet);
    const now = isoTime(unsettling.callbacks.clock.nowMs());
    let handled: Handled | 'moved';
    switch (decision.kind) {
      case 'wait':
        if (await unsettling.wait(bet)) continue;
        return unavailable('error', bet.owner?.operatorId, { reason: 'in_flight' });
      case 'send':
        handled = await sendResult(unsettling, bet, { cashoutToken: undefined, mayQueue: false });
        break;
      case 'takeOver':
        handled = await takeOverResult(unsettling, bet, now, decision.supersedes);
        break;
      case 'nothingToSend':
        handled = await recordUnsentResult(unsettling, bet, now, decision.supersedes);
        break;
      default:
        return unsettling.answerKnown(bet, decision);
    }
    if (handled !== 'moved') return handled;
  }
}
