import type { Bet } from '../domain/bet.ts';
import type { Confirmations } from '../store/deliveries/confirmations.ts';
import type { Engine } from './engine.ts';
import { isOpenResult, settleIn } from './first-request.ts';

/** The dependencies of making dead letters, shared by callbacks and the worker. */
export interface LeavingToPerson extends Pick<Engine, 'bets' | 'logger'> {
  readonly confirmations: Confirmations;
}

/**
 * Makes a dead letter of the result of unknown outcome, unless there is one already.
 * @returns false if the bet has no such result
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function leaveToPerson(
  { bets, confirmations, logger }: LeavingToPerson,
  bet: Bet,
): Promise<boolean> {
  const newestFirst = await bets.operationsOf(bet.transactionId);
  const open = newestFirst.find(isOpenResult);
  if (open === undefined) return false;
  if (await confirmations.leaveToPerson(bet, open.id, settleIn(open))) {
    const { transactionId, owner } = bet;
    logger.error({ operator: owner?.operatorId, transactionId }, 'delivery.left_to_person');
  }
  return true;
}
