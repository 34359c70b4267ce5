import { GatewayError } from '../domain/errors.ts';
import { isOfOneRow } from '../store/sql-state.ts';
import type { Logger } from '../telemetry/logger.ts';

/** The most unreadable bets that one run passes over, to reach those behind them; the next run goes on from there. */
const PASSED_OVER_MAX = 1_000;
/** The most that are passed over in all: they are read again in each run. */
const REMEMBERED_MAX = 20_000;
/** The most that one run names in the log. */
const NAMED_MAX = 20;

export interface DueBets<B> {
  /** How many bets one look adds to those that are passed over. */
  readonly batch: number;
  /** The first bets that are due, in a stable order; what is done is not due any more. */
  readonly look: (limit: number) => Promise<readonly B[]>;
  /** Transaction ids that earlier runs passed over; the same set in each run. */
  readonly passedOver: Set<string>;
}

/**
 * Carries out a duty bet by bet, for all operators. A bet whose row cannot be read, such as one that somebody has
 * corrected by hand and only half, is left to people and keeps none of the others waiting, however many there are (up
 * to 20,000).
 * @param work tells whether it did anything
 * @returns for how many bets it did
 * @throws GatewayError of `work`, because the database is away for all of them; any other error that is not of one row
 */
export async function eachBet<B extends { readonly transactionId: string }>(
  logger: Logger,
  { batch, look, passedOver }: DueBets<B>,
  work: (bet: B) => Promise<boolean>,
): Promise<number> {
  let [done, newly] = [0, 0];
  for (;;) {
    const before = passedOver.size;
    const due = await look(batch + before);
    for (const bet of due) {
      const { transactionId } = bet;
      if (passedOver.has(transactionId)) continue;
      try {
        if (await work(bet)) done += 1;
      } catch (error) {
        if (error instanceof GatewayError || !isOfOneRow(error)) throw error;
        passedOver.add(transactionId);
        newly += 1;
        if (newly > NAMED_MAX) continue;
        logger.error({ err: error, transactionId }, 'bet.unreadable');
      }
    }
    const isLast = due.length < batch + before || passedOver.size === before;
    if (!isLast && newly < PASSED_OVER_MAX) continue;
    // The next run begins with the first again: somebody may have corrected them.
    if (isLast || passedOver.size >= REMEMBERED_MAX) passedOver.clear();
    const more = newly - NAMED_MAX;
    if (more > 0) logger.error({ more }, 'bet.more_unreadable');
    return done;
  }
}
