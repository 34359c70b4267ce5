import { BET_STATES, type BetState } from '../../domain/bet-state.ts';
import type { Database } from '../database.ts';
import { SEARCH_AMOUNT, spellingsOf } from './amount-search.ts';
import {
  FIND_PLAYER_IDS,
  type FoundBet,
  SEARCH_ALL,
  SEARCH_ONE,
  SEARCH_OPERATOR,
  SEARCH_PLAYERS,
  type SearchRange,
} from './search-statements.ts';

export interface BetQuery {
  readonly operator?: string | undefined;
  readonly operatorUser?: string | undefined;
  readonly userId?: string | undefined;
  readonly transactionId?: string | undefined;
  readonly state?: BetState | undefined;
  /** The stake, as decimal text. */
  readonly amount?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: BetCursor | undefined;
}

/** The last bet of the previous page. */
export interface BetCursor {
  readonly createdAt: Date;
  readonly transactionId: string;
}

export interface BetPage {
  readonly items: readonly FoundBet[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

const PAGE_SIZE = 50;
/** How long one page searches for an amount; the next page continues from there. */
const SEARCH_MS = 100;

/** `1763773200000.<transactionId in base64url>` */
export function betCursorOf(text: string): BetCursor | undefined {
  const [, ms, id] = /^(\d{1,15})\.([\w-]{1,400})$/.exec(text) ?? [];
  if (ms === undefined || id === undefined) return undefined;
  const transactionId = Buffer.from(id, 'base64url').toString();
  // PostgreSQL cannot store such text.
  if (transactionId.includes('\0')) return undefined;
  return { createdAt: new Date(Number(ms)), transactionId };
}

function cursorTextOf({ createdAt, transactionId }: FoundBet | BetCursor): string {
  return `${new Date(createdAt).getTime()}.${Buffer.from(transactionId).toString('base64url')}`;
}

function rangeOf({ state, from, to, cursor }: BetQuery, limit: number): SearchRange {
  // A cursor from a list with another `to` may be later than this one.
  const after = cursor && to && cursor.createdAt >= to ? undefined : cursor;
  return {
    states: state === undefined ? BET_STATES : [state],
    from,
    before: after?.createdAt ?? to,
    beforeId: after?.transactionId ?? '',
    limit,
  };
}

/** Searches bets for people, newest first, always by an index. */
export class BetSearch {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE` */
  async page(query: BetQuery): Promise<BetPage> {
    const { amount, transactionId, operatorUser, userId } = query;
    const isNarrow = [transactionId, operatorUser, userId].some((one) => one !== undefined);
    if (amount !== undefined && !isNarrow) return await this.#ofAmount(query, amount);
    // One more than the page shows whether there is a next one.
    const found = await this.#find(query, PAGE_SIZE + 1);
    const items = found.slice(0, PAGE_SIZE);
    const last = items.at(-1);
    const isMore = found.length > PAGE_SIZE && last !== undefined;
    return { items, nextCursor: isMore ? cursorTextOf(last) : null };
  }

  /** A page stops after `SEARCH_MS`: it may be short or empty although there are older matches. */
  async #ofAmount(query: BetQuery, amount: string): Promise<BetPage> {
    const amounts = spellingsOf(amount);
    const operatorId = query.operator;
    const found: FoundBet[] = [];
    const endsAtMs = performance.now() + SEARCH_MS;
    for (let cursor = query.cursor; ; ) {
      const range = rangeOf({ ...query, cursor }, PAGE_SIZE + 1);
      const rows = await this.#database.run(SEARCH_AMOUNT, { ...range, amounts, operatorId });
      found.push(...rows.flatMap(({ bet }) => bet ?? []));
      const items = found.slice(0, PAGE_SIZE);
      const last = items.at(-1);
      if (found.length > PAGE_SIZE && last !== undefined) {
        return { items, nextCursor: cursorTextOf(last) };
      }
      const { end, isMore = false } = rows[0] ?? {};
      if (end === undefined || !isMore) return { items, nextCursor: null };
      if (performance.now() >= endsAtMs) return { items, nextCursor: cursorTextOf(end) };
      cursor = end;
    }
  }

  async #find(query: BetQuery, limit: number): Promise<readonly FoundBet[]> {
    const { operator: operatorId, transactionId, amount } = query;
    const range = rangeOf(query, limit);
    const amounts = amount === undefined ? undefined : spellingsOf(amount);
    const playerIds = await this.#playerIds(query);
    if (playerIds?.length === 0) return [];
    if (transactionId !== undefined) {
      return await this.#database.run(SEARCH_ONE, {
        ...range,
        transactionId,
        operatorId,
        playerIds,
        amounts,
      });
    }
    if (playerIds !== undefined) {
      return await this.#database.run(SEARCH_PLAYERS, { ...range, playerIds, amounts });
    }
    return operatorId === undefined
      ? await this.#database.run(SEARCH_ALL, range)
      : await this.#database.run(SEARCH_OPERATOR, { ...range, operatorId });
  }

  /** Undefined if the query names no player. */
  async #playerIds(query: BetQuery): Promise<readonly string[] | undefined> {
    const { operator: operatorId, operatorUser, userId } = query;
    if (operatorUser === undefined && userId === undefined) return undefined;
    return await this.#database.run(FIND_PLAYER_IDS, { operatorId, operatorUser, userId });
  }
}
