import type { BetSearch } from '../bets/search.ts';
import { betCursorOf } from '../bets/search.ts';
import type { BetTimelines } from '../bets/timeline.ts';
import type { PlayerRecords } from './player-records.ts';

/**
 * What the journal keeps about a player, a JSON object per line: `{player}`, then each `{bet}`, newest first,
 * with its messages but for the token. @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function* exportPlayer(
  from: {
    readonly players: Pick<PlayerRecords, 'file'>;
    readonly bets: Pick<BetSearch, 'page'>;
    readonly timelines: Pick<BetTimelines, 'find'>;
  },
  userId: string,
): AsyncGenerator<string> {
  const player = await from.players.file(userId);
  if (player === undefined) return;
  yield `${JSON.stringify({ player })}\n`;
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await from.bets.page({ userId, cursor: betCursorOf(cursor) });
    for (const { transactionId } of page.items) {
      const bet = await from.timelines.find(transactionId, undefined);
      if (bet === undefined) continue;
      const operations = bet.operations.map((operation) => ({
        ...operation,
        request: operation.request.toString('utf8'),
      }));
      yield `${JSON.stringify({ bet: { ...bet, operations } })}\n`;
    }
    cursor = page.nextCursor;
  }
}
