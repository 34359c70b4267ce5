import { type Client, DatabaseError } from 'pg';
import { openLongConnection } from '../server/connection.ts';
import { clientRows } from '../sql/client-rows.ts';
import { isUndone } from '../sql/sql-state.ts';
import type { Columns } from '../sql/statement.ts';

/** One player with the id that the aggregator already uses. */
export interface PlayerLine {
  /** Line number in the imported file, from 1. */
  readonly number: number;
  readonly operatorId: string;
  readonly operatorUser: string;
  readonly userId: string;
}

/** Another import holds the lock. */
export class TakeoverBusy extends Error {}

/** The outcome of a line. */
export type Taken =
  | { readonly kind: 'imported' }
  /** Exactly this player already exists. */
  | { readonly kind: 'unchanged' }
  /** A different player already has one of the ids, and stays. */
  | { readonly kind: 'conflict'; readonly why: string };

/** Advisory lock: two concurrent imports could deadlock. */
const LOCK_KEY = 2_002_872_166;
/** How often lines are written that PostgreSQL has rolled back in favour of another transaction. */
const TRIES_MAX = 5;

/**
 * Writes players with the ids that the aggregator has given them, a transaction per batch; existing ones stay.
 * A dry run writes to a temporary table: it finds the same conflicts, and locks nothing.
 */
export class PlayerTakeover {
  readonly #client: Client;
  readonly #dryRun: boolean;

  private constructor(client: Client, dryRun: boolean) {
    this.#client = client;
    this.#dryRun = dryRun;
  }

  /** @throws TakeoverBusy if another import is running; Error of `pg` */
  static async open(
    url: string,
    { dryRun }: { readonly dryRun: boolean },
  ): Promise<PlayerTakeover> {
    const client = await openLongConnection(url, 'import');
    const takeover = new PlayerTakeover(client, dryRun);
    try {
      await takeover.#prepare();
      return takeover;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  async #prepare(): Promise<void> {
    if (this.#dryRun) {
      await this.#client.query(CREATE_TRIAL_TABLE);
      return;
    }
    const [locked] = await clientRows(
      this.#client,
      'SELECT pg_try_advisory_lock($1) AS locked',
      [LOCK_KEY],
      (row) => row.bool('locked'),
    );
    if (locked !== true) throw new TakeoverBusy('another import is running');
  }

  /** @returns the outcome of each line, in order @throws Error of `pg`; all of the batch is written, or none */
  async take(lines: readonly PlayerLine[]): Promise<readonly Taken[]> {
    const inserted = await this.#insert(lines);
    // Of equal lines, the first is the one that was written.
    const taken = lines.map((line) => inserted.delete(keyOf(line)));
    const rest = lines.filter((_, at) => taken[at] === false);
    const known = rest.length === 0 ? NOTHING_KNOWN : await this.#find(rest);
    return lines.map((line, at) =>
      taken[at] === true ? { kind: 'imported' } : judge(line, known),
    );
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  async #insert(lines: readonly PlayerLine[]): Promise<Set<string>> {
    const text = this.#dryRun ? INSERT_ON_TRIAL : INSERT;
    for (let tries = 1; ; tries += 1) {
      try {
        const players = await clientRows(this.#client, text, columnsOf(lines), playerOf);
        return new Set(players.map(keyOf));
      } catch (error) {
        const isRolledBack = error instanceof DatabaseError && isUndone(error.code ?? '');
        // In the order of the file: a batch of bonuses may write the same players in another one, and deadlock.
        if (!isRolledBack || tries === TRIES_MAX) throw error;
      }
    }
  }

  async #find(lines: readonly PlayerLine[]): Promise<Known> {
    const text = this.#dryRun ? `${FIND} UNION ALL ${findIn('pg_temp.trial')}` : FIND;
    const players = await clientRows(this.#client, text, columnsOf(lines), playerOf);
    return {
      byUser: new Map(players.map((player) => [userKeyOf(player), player])),
      byUserId: new Map(players.map((player) => [player.userId, player])),
    };
  }
}

type Player = Omit<PlayerLine, 'number'>;

interface Known {
  readonly byUser: ReadonlyMap<string, Player>;
  readonly byUserId: ReadonlyMap<string, Player>;
}

const NOTHING_KNOWN: Known = { byUser: new Map(), byUserId: new Map() };

function judge(line: PlayerLine, known: Known): Taken {
  const sameUser = known.byUser.get(userKeyOf(line));
  if (sameUser?.userId === line.userId) return { kind: 'unchanged' };
  if (sameUser !== undefined) {
    const why = `${nameOf(line)} has the userId ${sameUser.userId} already`;
    return { kind: 'conflict', why };
  }
  const sameUserId = known.byUserId.get(line.userId);
  if (sameUserId === undefined) throw new Error(`line ${line.number} was refused by no row`);
  return {
    kind: 'conflict',
    why: `userId ${line.userId} already belongs to ${nameOf(sameUserId)}`,
  };
}

const nameOf = ({ operatorId, operatorUser }: Player) => `${operatorId}'s ${operatorUser}`;

/** Neither id can hold a slash. */
const userKeyOf = ({ operatorId, operatorUser }: Player) => `${operatorId}/${operatorUser}`;

const keyOf = (player: Player) => `${userKeyOf(player)}/${player.userId}`;

function columnsOf(lines: readonly PlayerLine[]): string[][] {
  return [
    lines.map((line) => line.operatorId),
    lines.map((line) => line.operatorUser),
    lines.map((line) => line.userId),
  ];
}

function playerOf(row: Columns): Player {
  return {
    operatorId: row.text('operator_id'),
    operatorUser: row.text('operator_user'),
    userId: row.text('user_id'),
  };
}

const COLUMNS = 'operator_id, operator_user, user_id';

/** Of two conflicting lines, the first in the file is imported. */
const GIVEN = `
  SELECT ${COLUMNS} FROM unnest($1::text[], $2::text[], $3::text[])
    WITH ORDINALITY AS given(operator_id, operator_user, user_id, position)`;

const INSERT = `
  INSERT INTO players (${COLUMNS}) ${GIVEN} ORDER BY position
  ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`;

const CREATE_TRIAL_TABLE = `
  CREATE TEMPORARY TABLE trial (
    operator_id TEXT, operator_user TEXT, user_id TEXT UNIQUE,
    UNIQUE (operator_id, operator_user)
  )`;

const INSERT_ON_TRIAL = `
  INSERT INTO pg_temp.trial (${COLUMNS}) ${GIVEN}
  WHERE NOT EXISTS (SELECT FROM players WHERE players.user_id = given.user_id)
    AND NOT EXISTS (
      SELECT FROM players
      WHERE players.operator_id = given.operator_id AND players.operator_user = given.operator_user
    )
  ORDER BY position ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`;

const FIND = findIn('players');

function findIn(tableName: string): string {
  return `
  SELECT ${COLUMNS} FROM ${tableName}
    JOIN unnest($1::text[], $2::text[]) AS given(operator_id, operator_user)
    USING (operator_id, operator_user)
  UNION ALL
  SELECT ${COLUMNS} FROM ${tableName} WHERE user_id = ANY($3::text[])`;
}
