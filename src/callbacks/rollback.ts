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
  // Before the journal: if the process is killed in between, there is a needless fence, but never a missing one.
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
    // The player is unknown here too. The tombstone is written all the same, to refuse a place that comes late.
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
          // The first copy has promised it, and is still trying.
          const { transactionTime: promisedTime } = bet.rollback;
          const answered = await rollingBack.firstByNow(bet, repeatedRollback);
          return answered ?? done(transactionId, promisedTime, 'taken_over', bet.owner?.operatorId);
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
          (sent) =>
            concludeRollback(bet, sent, { promisedTime: transactionTime, isAnswered: false }),
        );
        break;
      default:
        return rollingBack.answerKnown(bet, decision);
    }
    if (handled !== 'moved') return handled;
  }
}

/** The decision for a copy of a rollback that has been answered; undefined while it has not. */
function repeatedRollback(bet: Bet) {
  const decision = decideRollback(bet);
  return decision.kind === 'repeat' || decision.kind === 'repeatRefusal' ? decision : undefined;
}

const KNOWN_REASONS: ReadonlySet<number> = new Set(Object.values(ROLLBACK_REASONS));

/** Counts by reason. The service may add reasons, and the label's values must stay bounded. */
function count(callbacks: Callbacks, { errorCode }: RollbackRequest, handled: Handled): void {
  const known = errorCode !== undefined && KNOWN_REASONS.has(errorCode);
  callbacks.metrics.rollbacks.inc({
    operator: handled.operatorId ?? 'unknown',
    error_code: known ? `${errorCode}` : 'other',
  });
}
