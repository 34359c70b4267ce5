import { rollbackConclusion } from '../deliveries/conclusion.ts';
import type { Bet } from '../domain/bet.ts';
import { ROLLBACK_REASONS } from '../domain/codes.ts';
import type { Deadline } from '../domain/deadline.ts';
import { decideRollback } from '../domain/decide.ts';
import { unreachable } from '../domain/unreachable.ts';
import { isoTime } from '../protocol/answers.ts';
import type { RollbackRequest } from '../protocol/messages.ts';
import { done } from './answers.ts';
import { carryOut } from './carry-out.ts';
import type { Callbacks, Handled } from './context.ts';
import { unseenBet } from './locate.ts';
import { type NextState, promise, recordUnsent, sendPromised } from './promise.ts';

/**
 * A rollback is never refused and never forgotten: it fences the bet, is tried within the deadline,
 * and is a delivery from the moment it is begun until a wallet has confirmed it (I4, I6).
 * @throws GatewayError, OutOfTime when the journal failed before anything was promised
 */
export async function rollback(
  callbacks: Callbacks,
  message: RollbackRequest,
  raw: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  const { transactionId } = message;
  const transactionTime = isoTime(callbacks.clock.nowMs());
  const context = { callbacks, message, raw, deadline };
  const promised = (bet: Bet): NextState => ({
    bet: { ...bet, rollback: { kind: 'promised', transactionTime } },
    transactionTime,
  });
  const confirmed = (bet: Bet): NextState => ({
    bet: { ...bet, rollback: { kind: 'confirmed', transactionTime } },
    transactionTime,
  });

  const handled = await carryOut(callbacks, message, deadline, {
    decide: decideRollback,

    // Nobody here ever saw the player; the tombstone still refuses a place that comes late.
    nobody: async () => {
      const bet = unseenBet(callbacks, transactionId, undefined);
      return await recordUnsent(context, bet, confirmed(bet), []);
    },

    carry: async (bet, decision) => {
      switch (decision.kind) {
        case 'nothingToSend':
          return await recordUnsent(context, bet, confirmed(bet), decision.supersedes);
        case 'takeOver':
          return await promise(context, bet, promised(bet), decision.supersedes);
        case 'send':
          return await sendPromised(context, bet, promised(bet), decision.supersedes, (sent) =>
            rollbackConclusion(transactionId, transactionTime, sent),
          );
        default:
          return unreachable(decision);
      }
    },

    late: async (bet) =>
      // A twin has made the promise already and is trying to keep it.
      bet.rollback.kind === 'none'
        ? await promise(context, bet, promised(bet), [])
        : done(transactionId, bet.rollback.transactionTime, 'taken_over', bet.owner?.operatorId),
  });
  await callbacks.answers.fence(transactionId);
  if (handled.outcome !== 'duplicate') count(callbacks, message, handled);
  return handled;
}

const KNOWN_REASONS: ReadonlySet<number> = new Set(Object.values(ROLLBACK_REASONS));

/** The service may invent reasons; the label may not grow with them. */
function count(callbacks: Callbacks, { errorCode }: RollbackRequest, handled: Handled): void {
  const known = errorCode !== undefined && KNOWN_REASONS.has(errorCode);
  callbacks.metrics.rollbacks.inc({
    operator: handled.operatorId ?? 'unknown',
    error_code: known ? `${errorCode}` : 'other',
  });
}
