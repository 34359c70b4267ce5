import { GatewayError } from '../domain/errors.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * Does a duty bet by bet, whoever's they are. One that cannot be done, such as of a row that somebody has put right by
 * hand and only half, is left to people and keeps none of the others waiting.
 * @param work tells whether it did anything
 * @returns for how many it did
 * @throws GatewayError of `work`: the database is away for all of them
 */
export async function eachBet<B extends { readonly transactionId: string }>(
  logger: Logger,
  bets: readonly B[],
  work: (bet: B) => Promise<boolean>,
): Promise<number> {
  let done = 0;
  for (const bet of bets) {
    try {
      if (await work(bet)) done += 1;
    } catch (error) {
      if (error instanceof GatewayError) throw error;
      logger.error({ err: error, transactionId: bet.transactionId }, 'bet.unreadable');
    }
  }
  return done;
}
