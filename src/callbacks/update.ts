import { updateConclusion } from '../deliveries/conclusion.ts';
import type { Bet } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import { decideUpdate } from '../domain/decide.ts';
import { isoTime } from '../protocol/answers.ts';
import type { UpdateRequest } from '../protocol/messages.ts';
import { done } from './answers.ts';
import { carryOut } from './carry-out.ts';
import type { Callbacks, Handled } from './context.ts';
import { type NextState, promise, sendPromised } from './promise.ts';

/**
 * A bet data update moves no money and is always answered 200: tried within the deadline, else
 * taken over as a delivery, unless the wallet refuses it for good or nobody holds the bet.
 * @throws GatewayError, OutOfTime when the journal failed before anything was promised
 */
export async function update(
  callbacks: Callbacks,
  message: UpdateRequest,
  raw: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  const { transactionId, coefficientsKey } = message;
  const transactionTime = isoTime(callbacks.clock.nowMs());
  const context = { callbacks, message, raw, deadline };
  const unsent = (operatorId: string | undefined) =>
    done(transactionId, transactionTime, 'not_sent', operatorId);
  const promised = (bet: Bet): NextState => ({
    bet: { ...bet, update: { key: coefficientsKey, transactionTime } },
    transactionTime,
  });

  return await carryOut(callbacks, message, deadline, {
    decide: (bet) => decideUpdate(bet, coefficientsKey),
    nobody: async () => unsent(undefined),
    carry: async (bet, decision) => {
      const operatorId = bet.owner?.operatorId;
      const skips =
        operatorId !== undefined && callbacks.wallets.get(operatorId)?.callerDialect.skipUpdates;
      if (decision.kind === 'nothingToSend' || skips === true) return unsent(operatorId);
      if (decision.kind === 'takeOver') {
        return await promise(context, bet, promised(bet), decision.supersedes);
      }
      return await sendPromised(context, bet, promised(bet), decision.supersedes, (sent) => {
        const conclusion = updateConclusion(transactionId, transactionTime, bet.update, sent);
        if (conclusion === undefined || sent.kind !== 'accepted') return conclusion;
        // Its repeat is answered as the wallet answered, not as it would have been promised.
        const last = { key: coefficientsKey, transactionTime: sent.transactionTime };
        return { ...conclusion, update: last };
      });
    },
    late: async (bet) => await promise(context, bet, promised(bet), []),
  });
}
