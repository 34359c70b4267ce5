import type { Bet } from '../domain/bet.ts';
import { CODES } from '../domain/codes.ts';
import type { Deadline } from '../domain/deadline.ts';
import { decideSettle } from '../domain/decide.ts';
import { isoTime } from '../protocol/answers.ts';
import type { SettleRequest } from '../protocol/messages.ts';
import { tokenRefusal } from '../sessions/session.ts';
import { refused, unavailable } from './answers.ts';
import { carryOut } from './carry-out.ts';
import type { Callbacks, Handled } from './context.ts';
import { type ResultStory, sendResult, takeOverResult } from './result.ts';

/**
 * A settle, resettle or cashout: answered from the bet's state where it is settled so already, else
 * brought to the wallet; what could not be brought is answered 503, so that the service repeats it.
 * @throws GatewayError, OutOfTime when the journal failed
 */
export async function settle(
  callbacks: Callbacks,
  message: SettleRequest,
  raw: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  const { amount, resultType } = message;
  const isCashout = resultType === 'cashout';
  const context: ResultStory = {
    callbacks,
    message,
    raw,
    deadline,
    attempted: { kind: 'settle', amount, resultType },
    settlement: (transactionTime) => ({ kind: 'settled', amount, resultType, transactionTime }),
    // The player's token is the wallet's business only when the player asked for the money.
    notBrought: isCashout ? CASHOUT_NOT_BROUGHT : NOT_BROUGHT,
  };

  return await carryOut(callbacks, message, deadline, {
    decide: (bet) => decideSettle(bet, message),
    nobody: async () => refused(CODES.validation, 'transactionId: is not known', undefined),
    carry: async (bet, decision) => {
      const operatorId = bet.owner?.operatorId;
      const live = isCashout ? await cashoutToken(callbacks, message, bet) : undefined;
      if (live?.kind === 'refused') return live.handled;
      if (decision.kind === 'send') {
        return await sendResult(
          context,
          bet,
          live?.operatorToken,
          mayQueue(callbacks, bet, message),
        );
      }
      // Only the wallet can say yes to a cashout, while its player waits and the token lives.
      if (isCashout) return unavailable('not_sent', operatorId, { reason: 'settle_waiting' });
      const now = isoTime(callbacks.clock.nowMs());
      return await takeOverResult(context, bet, bet, now, decision.supersedes);
    },
    late: async (bet) => unavailable('error', bet.owner?.operatorId, { reason: 'in_flight' }),
  });
}

/** Codes of a settle that mean the wallet did not take it: our fault or its own, not the bet's. */
const CASHOUT_NOT_BROUGHT: readonly number[] = [CODES.badSignature, CODES.system];
export const NOT_BROUGHT: readonly number[] = [
  ...CASHOUT_NOT_BROUGHT,
  CODES.invalidToken,
  CODES.expiredToken,
];

/** Only a first settle may be taken over: a wallet may refuse a changed result (20, 21). */
function mayQueue(callbacks: Callbacks, bet: Bet, { resultType }: SettleRequest): boolean {
  const operatorId = bet.owner?.operatorId;
  if (operatorId === undefined || bet.settlement.kind !== 'none') return false;
  if (resultType === 'cashout') return false;
  return callbacks.configuration().operators.get(operatorId)?.settle.onFailure === 'queue';
}

/** A cashout needs a live token of its player: of any of its sessions, in any currency. */
async function cashoutToken(
  callbacks: Callbacks,
  message: SettleRequest,
  bet: Bet,
): Promise<
  | { readonly kind: 'live'; readonly operatorToken: string }
  | { readonly kind: 'refused'; readonly handled: Handled }
> {
  const operatorId = bet.owner?.operatorId;
  const refuse = (code: 3 | 4) => ({
    kind: 'refused' as const,
    handled: refused(code, code === 3 ? 'Invalid token' : 'Token out of date', operatorId),
  });
  if (message.token === undefined) return refuse(CODES.invalidToken);
  const lookup = await callbacks.sessions.findCertain(message.token);
  if (lookup.kind === 'unknown' || lookup.session.owner.playerId !== bet.owner?.playerId) {
    return refuse(CODES.invalidToken);
  }
  if (lookup.kind !== 'live') return refuse(tokenRefusal(lookup));
  return { kind: 'live', operatorToken: lookup.session.operatorToken };
}
