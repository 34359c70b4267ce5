import type { Bet, BetOwner, Busy } from '../domain/bet.ts';
import { GENERATION_UNKNOWN } from '../domain/generation.ts';
import type { Players } from '../store/sessions/players.ts';
import type { Engine } from './engine.ts';
import { generationOfUnseen } from './operator-settings.ts';

/** The refusal of an operation that names another player than its bet's. */
export const ANOTHER_PLAYERS = "the bet is another player's";

/** The bet of an operation. */
export type Located =
  /** The journal's bet, or a placeholder (`version` 0) for a known player's unknown bet. */
  | { readonly kind: 'bet'; readonly bet: Bet }
  /** The operation names another player than the bet's. */
  | { readonly kind: 'foreign'; readonly operatorId: string | undefined }
  /** Neither the bet nor the player is known. */
  | { readonly kind: 'nobody' }
  /** The bet is not in the journal, and the operation names no player. */
  | { readonly kind: 'unnamed' };

/** Finds the bet in the journal, not by token: the session may be gone. For an unknown bet, finds its player. */
export async function locate(
  engine: Engine & { readonly players: Players },
  message: { readonly transactionId: string; readonly userId?: string | undefined },
): Promise<Located> {
  const { userId } = message;
  const bet = await findRecoveredBet(engine, message.transactionId);
  if (bet !== undefined) {
    const foreign = bet.owner !== undefined && userId !== undefined && bet.owner.userId !== userId;
    return foreign ? { kind: 'foreign', operatorId: bet.owner?.operatorId } : { kind: 'bet', bet };
  }
  if (userId === undefined) return { kind: 'unnamed' };
  const player = await engine.players.findForBet(userId);
  if (player === undefined) return { kind: 'nobody' };
  const { owner, ...released } = player;
  return { kind: 'bet', bet: { ...unseenBet(engine, message.transactionId, owner), ...released } };
}

/** The present bet. An operation in flight whose process died is marked unknown first. */
export async function findRecoveredBet(
  engine: Engine,
  transactionId: string,
): Promise<Bet | undefined> {
  for (;;) {
    const bet = await engine.bets.find(transactionId);
    if (bet?.busy?.lapsed !== true) return bet && withGeneration(engine, bet);
    const { attemptId, operation } = bet.busy;
    // Waiting copies and the sweep may all find it; only the one that marks it counts it.
    if (await engine.bets.recover(transactionId, attemptId)) {
      countUnknown(engine, bet.owner?.operatorId, operation);
    }
  }
}

/** A bet that is not in the journal. */
export function unseenBet(engine: Engine, transactionId: string, owner: BetOwner | undefined): Bet {
  return {
    transactionId,
    owner,
    sessionId: undefined,
    amount: undefined,
    currency: undefined,
    generation:
      owner === undefined ? 1 : generationOfUnseen(engine.configuration(), owner.operatorId),
    released: 0,
    releasedTo: 0,
    place: { kind: 'unseen' },
    settlement: { kind: 'none' },
    rollback: { kind: 'none' },
    update: undefined,
    busy: undefined,
    deliveries: [],
    late: undefined,
    standingOperationId: undefined,
    placeAnsweredUnknown: false,
    version: 0,
  };
}

/** The bet, with the present generation if its own is unknown. */
function withGeneration({ configuration }: Engine, bet: Bet): Bet {
  if (bet.generation !== GENERATION_UNKNOWN || bet.owner === undefined) return bet;
  return { ...bet, generation: generationOfUnseen(configuration(), bet.owner.operatorId) };
}

/** Only places, settles and unsettles (docs/reference.md, Metrics): the others are repeated or change nothing. */
export function countUnknown(
  { metrics }: Pick<Engine, 'metrics'>,
  operatorId: string | undefined,
  operation: Busy['operation'],
): void {
  if (operation === 'rollback' || operation === 'update' || operation === 'confirm') return;
  metrics.unknownOutcomes.inc({ operator: operatorId ?? 'unknown', operation });
}
