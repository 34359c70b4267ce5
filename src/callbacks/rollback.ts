import type { Bet } from '../domain/bet.ts';
import { ROLLBACK_REASONS } from '../domain/codes.ts';
import { concludeRollback } from '../domain/conclude.ts';
import { calledOffInFlight, decideRollback } from '../domain/decide.ts';
import { unseenBet } from '../engine/find-bet.ts';
import { isoTime } from '../protocol/answers.ts';
import type { RollbackRequest } from '../protocol/messages.ts';
import { done } from './answers.ts';
import type { BetCallback } from './bet-callback.ts';
import type { NextState } from './commit.ts';
import type { Callbacks } from './context.ts';
import type { Handled } from './handled.ts';
import { recordUnsent, sendPromised, takeOver } from './promised-operation.ts';

/**
 * A rollback is never refused and never forgotten: it fences the bet, is tried within the deadline,
 * and is a delivery from the moment it is begun until a wallet has confirmed it (I4, I6).
 * @throws GatewayError, OutOfTime when the journal failed before anything was promised
 */
export async function rollback(rollingBack: BetCallback<RollbackRequest>): Promise<Handled> {
  const { callbacks, message, transactionId } = rollingBack;
  // Before the journal: a process killed in between leaves a needless fence, never a missing one.
  await callbacks.answers.fence(transactionId);
  const handled = await fencedRollback(rollingBack);
  if (handled.outcome !== 'duplicate') count(callbacks, message, handled);
  return handled;
}

async function fencedRollback(rollingBack: BetCallback<RollbackRequest>): Promise<Handled> {
  const { callbacks, transactionId } = rollingBack;
  const transactionTime = isoTime(callbacks.clock.nowMs());
  const rolledBack = (
    from: Bet,
    kind: 'promised' | 'confirmed',
    supersedes: readonly string[],
  ): NextState => ({
    from,
    to: { ...from, rollback: { kind, transactionTime } },
    transactionTime,
    supersedes,
  });
  for (;;) {
    const found = await rollingBack.find();
    if (found.kind === 'answered') return found.handled;
    // Nobody here ever saw the player; the tombstone still refuses a place that comes late.
    const bet =
      found.kind === 'nobody' ? unseenBet(callbacks, transactionId, undefined) : found.bet;
    const decision =
      found.kind === 'nobody'
        ? ({ kind: 'nothingToSend', supersedes: [] } as const)
        : decideRollback(bet);
    let handled: Handled | 'moved';
    switch (decision.kind) {
      case 'wait':
        if (await rollingBack.wait(bet)) continue;
        if (bet.rollback.kind !== 'none') {
          return await promisedByFirst(rollingBack, bet, bet.rollback.transactionTime);
        }
        handled = await takeOver(rollingBack, rolledBack(bet, 'promised', calledOffInFlight(bet)));
        break;
      case 'nothingToSend':
        handled = await recordUnsent(
          rollingBack,
          rolledBack(bet, 'confirmed', decision.supersedes),
        );
        break;
      case 'takeOver':
        handled = await takeOver(rollingBack, rolledBack(bet, 'promised', decision.supersedes));
        break;
      case 'send':
        handled = await sendPromised(
          rollingBack,
          rolledBack(bet, 'promised', decision.supersedes),
          (sent) => concludeRollback(bet, sent, { promisedTime: transactionTime, isTold: false }),
        );
        break;
      default:
        return rollingBack.answerKnown(bet, decision);
    }
    if (handled !== 'moved') return handled;
  }
}

/**
 * The answer to a copy that cannot wait any longer for the first, which has promised the rollback and
 * tries to keep that: what came of it by now, else its promise.
 */
async function promisedByFirst(
  rollingBack: BetCallback<RollbackRequest>,
  bet: Bet,
  promisedTime: string,
): Promise<Handled> {
  const found = await rollingBack.lastLook(bet);
  if (found.kind === 'answered') return found.handled;
  const now = found.kind === 'bet' ? found.bet : bet;
  const decision = decideRollback(now);
  if (decision.kind === 'repeat' || decision.kind === 'repeatRefusal') {
    return rollingBack.answerKnown(now, decision);
  }
  return done(bet.transactionId, promisedTime, 'taken_over', bet.owner?.operatorId);
}

const KNOWN_REASONS: ReadonlySet<number> = new Set(Object.values(ROLLBACK_REASONS));

/** The service may add reasons; the label's values must stay bounded. */
function count(callbacks: Callbacks, { errorCode }: RollbackRequest, handled: Handled): void {
  const known = errorCode !== undefined && KNOWN_REASONS.has(errorCode);
  callbacks.metrics.rollbacks.inc({
    operator: handled.operatorId ?? 'unknown',
    error_code: known ? `${errorCode}` : 'other',
  });
}
