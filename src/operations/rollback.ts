import { type Bet, tombstoneOf } from '../domain/bet.ts';
import { concludeRollback } from '../domain/conclude.ts';
import { calledOffInFlight, decideRollback } from '../domain/decide.ts';
import { isoTime } from '../protocol/answers.ts';
import { parseBet, type RollbackRequest } from '../protocol/messages.ts';
import type { Handled } from './answers.ts';
import { done } from './answers.ts';
import type { BetCallback } from './bet-callback.ts';
import { type NextState, recordUnsent, takeOver } from './commit.ts';
import { ANOTHER_PLAYERS, unseenBet } from './find-bet.ts';
import { generationOfUnseen } from './operator-settings.ts';
import { noteOfRepairs, sendPromised } from './promise.ts';

/**
 * Never refused, never lost: it fences the bet, and is a delivery from the start until a wallet confirms it (I4, I6).
 * @throws GatewayError, OutOfTime if the journal failed before anything was promised
 */
export async function rollback(rollingBack: BetCallback<RollbackRequest>): Promise<Handled> {
  const { callbacks, transactionId } = rollingBack;
  // In parallel with the first read of the bet.
  const fenced = callbacks.answers.fence(transactionId);
  // One time for every promise of this callback, however often the bet changes.
  const transactionTime = isoTime(callbacks.clock.nowMs());
  const noteRepairs = noteOfRepairs(rollingBack);
  return await rollingBack.handle(async (found) => {
    noteRepairs(found.kind === 'bet' ? found.bet : undefined);
    // Before the journal: a killed process may leave a needless fence, never a missing one.
    await fenced;
    if (found.kind === 'bet') {
      const bet = await withOwner(rollingBack, found.bet);
      if (bet === undefined) return rollingBack.conflict(undefined, ANOTHER_PLAYERS);
      return await rollBackBet(rollingBack, bet, transactionTime);
    }
    // The tombstone is written even for an unknown player, to refuse a late place.
    const nobodys = unseenBet(callbacks, transactionId, undefined);
    return await recordUnsent(rollingBack, rolledBack(nobodys, 'confirmed', transactionTime, []));
  });
}

async function rollBackBet(
  rollingBack: BetCallback<RollbackRequest>,
  bet: Bet,
  transactionTime: string,
): Promise<Handled | 'moved'> {
  const { transactionId } = rollingBack;
  const promised = (supersedes: readonly string[]) =>
    rolledBack(bet, 'promised', transactionTime, supersedes);
  const decision = decideRollback(bet);
  switch (decision.kind) {
    case 'wait':
      if (await rollingBack.wait(bet)) return 'moved';
      if (bet.rollback.kind !== 'none') {
        // The first request has promised it, and its attempt is in flight.
        const { transactionTime: promisedTime } = bet.rollback;
        const answered = await rollingBack.firstByNow(bet, repeatedRollback);
        return answered ?? done(transactionId, promisedTime, 'taken_over', bet.owner?.operatorId);
      }
      return await takeOver(rollingBack, promised(calledOffInFlight(bet)));
    case 'nothingToSend': {
      const next = rolledBack(bet, 'confirmed', transactionTime, decision.supersedes);
      return await recordUnsent(rollingBack, next);
    }
    case 'takeOver':
      return await takeOver(rollingBack, promised(decision.supersedes));
    case 'send':
      return await sendPromised(rollingBack, promised(decision.supersedes), (sent) =>
        concludeRollback(bet, sent, { promisedTime: transactionTime, isAnswered: false }),
      );
    default:
      return rollingBack.answerKnown(bet, decision);
  }
}

function rolledBack(
  from: Bet,
  kind: 'promised' | 'confirmed',
  transactionTime: string,
  supersedes: readonly string[],
): NextState {
  const to = { ...from, rollback: { kind, transactionTime } };
  return { from, to, transactionTime, supersedes };
}

/** The bet with its owner if that was unknown (`tombstoneOf`). @returns undefined if it is another player's */
async function withOwner(
  { callbacks, message, transactionId }: BetCallback<RollbackRequest>,
  bet: Bet,
): Promise<Bet | undefined> {
  if (bet.owner !== undefined || message.userId === undefined) return bet;
  const player = await callbacks.players.findForBet(message.userId);
  if (player === undefined) return bet;
  const first = (await callbacks.bets.operationsOf(transactionId)).at(-1);
  const parsed = first && parseBet('PUT', first.body);
  const firstUserId = parsed?.ok === true ? parsed.message.userId : undefined;
  const generation = generationOfUnseen(callbacks.configuration(), player.owner.operatorId);
  return tombstoneOf(bet, { ...player, generation }, firstUserId);
}

/** The decision for a copy of an answered rollback; undefined while it has no answer. */
function repeatedRollback(bet: Bet) {
  const decision = decideRollback(bet);
  return decision.kind === 'repeat' || decision.kind === 'repeatRefusal' ? decision : undefined;
}
