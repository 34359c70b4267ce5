import { GatewayError } from '../domain/errors.ts';
import { isOfOneRow } from '../store/sql-state.ts';
import type { Logger } from '../telemetry/logger.ts';

/** So many that cannot be done are passed over a time, to reach those behind them; the next time goes on from there. */
const PASSED_OVER_MAX = 1_000;
/** So many in all: they are read each time. */
const REMEMBERED_MAX = 20_000;
/** So many of them are named a time: each is looked at again with the next sweep. */
const NAMED_MAX = 20;

/** Those that are due, the first so many of them; what was done is not due any more. */
export interface DueBets<B> {
  readonly batch: number;
  readonly look: (limit: number) => Promise<readonly B[]>;
  /** Those that were passed over where the last time had to stop; the same set each time. */
  readonly passedOver: Set<string>;
}

/**
 * Does a duty bet by bet, whoever's they are. Those that cannot be done, such as of rows that somebody has put right by
 * hand and only half, are left to people and keep none of the others waiting, however many they are (up to 20,000).
 * @param work tells whether it did anything
 * @returns for how many it did
 * @throws GatewayError of `work`: the database is away for all of them; its other errors where they are of all as well
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
    // Looked at again from the first: somebody may have put them right.
    if (isLast || passedOver.size >= REMEMBERED_MAX) passedOver.clear();
    const more = newly - NAMED_MAX;
    if (more > 0) logger.error({ more }, 'bet.more_unreadable');
    return done;
  }
}
