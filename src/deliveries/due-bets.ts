import { GatewayError } from '../domain/errors.ts';
import { mapLimited } from '../lib/map-limited.ts';
import { isOfOneRow } from '../store/sql/sql-state.ts';
import type { Logger } from '../telemetry/logger.ts';

/** Unreadable bets that one run skips to reach others; the next run continues from there. */
const PASSED_OVER_MAX = 1_000;
/** The most that are skipped in total: every run reads them again. */
const REMEMBERED_MAX = 20_000;
/** Each bet takes a few round trips to PostgreSQL, on connections that others need. */
const AT_ONCE = 4;
/** The most that one run logs by name. */
const NAMED_MAX = 20;

export interface DueBets<B> {
  /** Bets to read at a time, besides the skipped ones. */
  readonly batch: number;
  /** Reads the first due bets, in a stable order; a processed bet is no longer due. */
  readonly look: (limit: number) => Promise<readonly B[]>;
  /** Transaction ids that earlier runs skipped; pass the same set to each run. */
  readonly passedOver: Set<string>;
}

/**
 * Processes due bets of all operators, a few at a time. An unreadable row (edited by hand) is skipped for the others.
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
    // The next run starts from the first bet again: people may have corrected some.
    if (isLast || passedOver.size >= REMEMBERED_MAX) passedOver.clear();
    const more = newly - NAMED_MAX;
    if (more > 0) logger.error({ more }, 'bet.more_unreadable');
    return done;
  }
}
