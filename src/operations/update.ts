import type { Bet } from '../domain/bet.ts';
import { concludeUpdate } from '../domain/conclude.ts';
import { decideUpdate, repeatedUpdate } from '../domain/decide.ts';
import { isoTime } from '../protocol/answers.ts';
import type { UpdateRequest } from '../protocol/messages.ts';
import type { Handled } from './answers.ts';
import { done } from './answers.ts';
import type { BetCallback } from './bet-callback.ts';
import { type NextState, recordUnsent, takeOver } from './commit.ts';
import { noteOfRepairs, sendPromised } from './promise.ts';
import { onRecord, recordedAnswer } from './recorded-answer.ts';

/**
 * Moves no money, so answered 200 and delivered later if need be, unless a wallet refuses it or none has the bet.
 * @throws GatewayError, OutOfTime if the journal failed before anything was promised
 */
export async function update(updating: BetCallback<UpdateRequest>): Promise<Handled> {
  const { callbacks, transactionId } = updating;
  // One time for every promise of this callback, however often the bet changes.
  const transactionTime = isoTime(callbacks.clock.nowMs());
  const noteRepairs = noteOfRepairs(updating);
  const handled = await updating.handle(async (found) => {
    noteRepairs(found.kind === 'bet' ? found.bet : undefined);
    return found.kind === 'nobody'
      ? done(transactionId, transactionTime, 'not_sent', undefined)
      : await updateBet(updating, found.bet, transactionTime);
  });
  return await onRecord(updating, handled);
}

async function updateBet(
  updating: BetCallback<UpdateRequest>,
  bet: Bet,
  transactionTime: string,
): Promise<Handled | 'moved'> {
  const { callbacks, message } = updating;
  const { coefficientsKey: key } = message;
  const recorded = await recordedAnswer(updating, bet);
  if (recorded !== undefined) return recorded;
  const decision = decideUpdate(bet, key);
  const operatorId = bet.owner?.operatorId;
  const isSkipped =
    operatorId !== undefined && callbacks.wallets.get(operatorId)?.callerDialect.skipUpdates;
  const to = { ...bet, update: { key, transactionTime } };
  const updated = (supersedes: readonly string[]): NextState => {
    return { from: bet, to, transactionTime, supersedes };
  };
  switch (decision.kind) {
    case 'wait': {
      if (await updating.wait(bet)) return 'moved';
      const repeat = repeatedUpdate(bet, key);
      if (repeat !== undefined) {
        const answered = await updating.firstByNow(bet, (now) => repeatedUpdate(now, key));
        return answered ?? updating.answerKnown(bet, repeat);
      }
      // With `updates: skip` nothing may be sent, and a delivery would be.
      const keep = isSkipped === true ? recordUnsent : takeOver;
      return await keep(updating, updated([]));
    }
    case 'nothingToSend':
      // Recorded, so that a copy gets the same answer, byte for byte.
      return await recordUnsent(updating, updated(decision.supersedes));
    case 'send':
      if (isSkipped === true) return await recordUnsent(updating, updated([]));
      return await sendPromised(updating, updated(decision.supersedes), (sent) => {
        const asked = { key, promisedTime: transactionTime, isAnswered: false };
        return concludeUpdate(sent, { ...asked, before: decision.inForce });
      });
    default:
      return updating.answerKnown(bet, decision);
  }
}
