import type { Bet, BetOwner } from '../domain/bet.ts';
import type { Callbacks } from './context.ts';

/** Whom an operation on a bet concerns. */
export type Located =
  /** The journal's bet, or one made up for a player whose bet is unknown here (`version` 0). */
  | { readonly kind: 'bet'; readonly bet: Bet }
  /** The bet is another player's than the operation says. */
  | { readonly kind: 'foreign'; readonly operatorId: string | undefined }
  /** Neither the bet nor the player is known here. */
  | { readonly kind: 'nobody' };

/** Routes by the journal, not by the token: the session may be gone. Unknown bets by `userId`. */
export async function locate(
  callbacks: Callbacks,
  message: { readonly transactionId: string; readonly userId: string },
): Promise<Located> {
  const bet = await findSettledBet(callbacks, message.transactionId);
  if (bet !== undefined) {
    const foreign = bet.owner !== undefined && bet.owner.userId !== message.userId;
    return foreign ? { kind: 'foreign', operatorId: bet.owner?.operatorId } : { kind: 'bet', bet };
  }
  const owner = await callbacks.players.findByUserId(message.userId);
  if (owner === undefined) return { kind: 'nobody' };
  return { kind: 'bet', bet: unseenBet(callbacks, message.transactionId, owner) };
}

/** The bet as it stands, after what a killed process left in flight was called unknown. */
export async function findSettledBet(
  callbacks: Callbacks,
  transactionId: string,
): Promise<Bet | undefined> {
  for (;;) {
    const bet = await callbacks.bets.find(transactionId);
    if (bet?.busy?.lapsed !== true) return bet;
    await callbacks.bets.recover(transactionId, bet.busy.attemptId);
    callbacks.metrics.unknownOutcomes.inc({
      operator: bet.owner?.operatorId ?? 'unknown',
      operation: bet.busy.operation,
    });
  }
}

/** A bet of which nothing is known but that somebody speaks of it. */
export function unseenBet(
  callbacks: Callbacks,
  transactionId: string,
  owner: BetOwner | undefined,
): Bet {
  const operator =
    owner === undefined ? undefined : callbacks.configuration().operators.get(owner.operatorId);
  return {
    transactionId,
    owner,
    sessionId: undefined,
    amount: undefined,
    currency: undefined,
    generation: operator?.wallet.generation ?? 1,
    place: { kind: 'unseen' },
    settlement: { kind: 'none' },
    rollback: { kind: 'none' },
    update: undefined,
    busy: undefined,
    deliveries: [],
    version: 0,
  };
}
