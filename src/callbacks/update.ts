import type { Bet } from '../domain/bet.ts';
import { concludeUpdate } from '../domain/conclude.ts';
import { decideUpdate, repeatedUpdate } from '../domain/decide.ts';
import { isoTime } from '../protocol/answers.ts';
import type { UpdateRequest } from '../protocol/messages.ts';
import { done } from './answers.ts';
import type { BetCallback } from './bet-callback.ts';
import type { NextState } from './commit.ts';
import type { Handled } from './handled.ts';
import { recordUnsent, sendPromised, takeOver } from './promised-operation.ts';
import { onRecord, recordedAnswer } from './recorded-answer.ts';

/**
 * A bet data update moves no money and is always answered 200: tried within the deadline, else
 * accepted as a delivery, unless the wallet refuses it for good or no wallet holds the bet.
 * @throws GatewayError, OutOfTime when the journal failed before anything was promised
 */
export async function update(updating: BetCallback<UpdateRequest>): Promise<Handled> {
  return await onRecord(updating, await updateOrRepeat(updating));
}

async function updateOrRepeat(updating: BetCallback<UpdateRequest>): Promise<Handled> {
  const { callbacks, message, transactionId } = updating;
  const { coefficientsKey: key } = message;
  const transactionTime = isoTime(callbacks.clock.nowMs());
  const updated = (from: Bet, supersedes: readonly string[]): NextState => ({
    from,
    to: { ...from, update: { key, transactionTime } },
    transactionTime,
    supersedes,
  });
  for (;;) {
    const found = await updating.find();
    if (found.kind === 'answered') return found.handled;
    if (found.kind === 'nobody') {
      return done(transactionId, transactionTime, 'not_sent', undefined);
    }
    const { bet } = found;
    const recorded = await recordedAnswer(updating, bet);
    if (recorded !== undefined) return recorded;
    const decision = decideUpdate(bet, key);
    const operatorId = bet.owner?.operatorId;
    const isSkipped =
      operatorId !== undefined && callbacks.wallets.get(operatorId)?.callerDialect.skipUpdates;
    let handled: Handled | 'moved';
    switch (decision.kind) {
      case 'wait': {
        if (await updating.wait(bet)) continue;
        const repeat = repeatedUpdate(bet, key);
        if (repeat !== undefined) {
          const answered = await updating.firstByNow(bet, (now) => repeatedUpdate(now, key));
          return answered ?? updating.answerKnown(bet, repeat);
        }
        // With `updates: skip` nothing may be sent, and a delivery would be.
        const keep = isSkipped === true ? recordUnsent : takeOver;
        handled = await keep(updating, updated(bet, []));
        break;
      }
      case 'nothingToSend':
        // On record, so that a copy gets the same answer, byte for byte.
        handled = await recordUnsent(updating, updated(bet, decision.supersedes));
        break;
      case 'send':
        handled =
          isSkipped === true
            ? await recordUnsent(updating, updated(bet, []))
            : await sendPromised(updating, updated(bet, decision.supersedes), (sent) => {
                const asked = { key, promisedTime: transactionTime, isAnswered: false };
                // An update that this one supersedes never reached a wallet, so it cannot be in force again.
                const before = decision.supersedes.length === 0 ? bet.update : undefined;
                return concludeUpdate(sent, { ...asked, before });
              });
        break;
      default:
        return updating.answerKnown(bet, decision);
    }
    if (handled !== 'moved') return handled;
  }
}
