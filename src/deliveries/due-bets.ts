import { GatewayError } from '../domain/errors.ts';
import { mapLimited } from '../lib/map-limited.ts';
import { isOfOneRow } from '../store/sql/sql-state.ts';
import type { Logger } from '../telemetry/logger.ts';

/** The most unreadable bets that one run skips to reach those behind them; the next run continues from there. */
const PASSED_OVER_MAX = 1_000;
/** The most that are skipped in total, since every run reads them again. */
const REMEMBERED_MAX = 20_000;
/** Each bet takes a few round trips to PostgreSQL, on connections that others need as well. */
const AT_ONCE = 4;
/** The most that one run logs by name. */
const NAMED_MAX = 20;

export interface DueBets<B> {
  /** How many bets are read at a time, besides those that are skipped. */
  readonly batch: number;
  /** Reads the first due bets, in a stable order; a bet that has been worked on is not due any more. */
  readonly look: (limit: number) => Promise<readonly B[]>;
  /** Transaction ids that earlier runs skipped; pass the same set to each run. */
  readonly passedOver: Set<string>;
}

/**
 * Works through due bets, a few at a time, for all operators. A bet whose row cannot be read, such as one that somebody has
 * edited by hand incompletely, is skipped and left to people, so that it does not hold up the others; up to 20,000
 * may be skipped.
 * @param work resolves to whether it did anything
 * @returns for how many bets it did
 * @throws GatewayError of `work`, since the database is down for all; any other error not caused by a single row
 */
export async function forEachDueBet<B extends { readonly transactionId: string }>(
  logger: Logger,
  { batch, look, passedOver }: DueBets<B>,
  work: (bet: B) => Promise<boolean>,
): Promise<number> {
  let [done, newly] = [0, 0];
  for (;;) {
    const before = passedOver.size;
    const due = await look(batch + before);
    const readable = due.filter(({ transactionId }) => !passedOver.has(transactionId));
    await mapLimited(readable, AT_ONCE, async (bet) => {
      const { transactionId } = bet;
      try {
        if (await work(bet)) done += 1;
      } catch (error) {
        if (error instanceof GatewayError || !isOfOneRow(error)) throw error;
        passedOver.add(transactionId);
        newly += 1;
        if (newly > NAMED_MAX) return;
        logger.error({ err: error, transactionId }, 'bet.unreadable');
      }
    });
    const isLast = due.length < batch + before || passedOver.size === before;
    if (!isLast && newly < PASSED_OVER_MAX) continue;
    // The next run starts from the first bet again, because people may have corrected them.
    if (isLast || passedOver.size >= REMEMBERED_MAX) passedOver.clear();
    const more = newly - NAMED_MAX;
    if (more > 0) logger.error({ more }, 'bet.more_unreadable');
    return done;
  }
}
