import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';

/** What of a session its tokens are sealed and told again by. */
export interface SealedRow {
  readonly id: string;
  readonly operator_id: string;
  readonly player_id: string;
  readonly currency: string;
  readonly ordinal: number;
  readonly token_hash: Buffer;
  readonly operator_token: Buffer;
  readonly token: string | null;
  readonly sealed_token: Buffer | null;
  /** Neither ended nor expired: its token may be asked for again. */
  readonly live: boolean;
  /** How it is sealed and by which key. */
  readonly mark: Buffer;
}

/** Where a walk over the sessions has come to. */
export interface SealPosition {
  readonly mark: Buffer;
  readonly id: string;
}

export const FIRST_POSITION: SealPosition = { mark: Buffer.alloc(0), id: '0' };

/** A session's tokens, sealed anew. */
export interface Resealed {
  readonly id: string;
  /** As it was read: what somebody changed in between is left alone. */
  readonly was: Buffer;
  readonly operatorToken: Buffer;
  readonly sealedToken: Buffer | undefined;
}

/** The seals of `sessions`. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class SessionSeals {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Sessions whose operator token is sealed otherwise than by `mark`, from `after` on.
   * @param mark what all begins with that is sealed now
   */
  async findBehind(
    mark: Buffer,
    after: SealPosition,
    limit: number,
  ): Promise<readonly SealedRow[]> {
    const values = [mark, after.mark, after.id, limit];
    return await this.#database.query<SealedRow>(FIND_BEHIND, values);
  }

  async countBehind(mark: Buffer): Promise<number> {
    const [row] = await this.#database.query<{ behind: number }>(COUNT_BEHIND, [mark]);
    return row?.behind ?? 0;
  }

  /** @returns how many were written */
  async reseal(sessions: readonly Resealed[]): Promise<number> {
    const rows = await this.#database.query(RESEAL, [
      sessions.map(({ id }) => id),
      sessions.map(({ was }) => was),
      sessions.map(({ operatorToken }) => operatorToken),
      sessions.map(({ sealedToken }) => sealedToken ?? null),
    ]);
    return rows.length;
  }
}

const MARK = 'substring(s.operator_token FROM 1 FOR 9)';

/** Two ranges beside the present mark, so that sessions which are well are never read. */
const beside = (comparison: '<' | '>') => `(
  SELECT s.id, s.operator_id, s.player_id, s.currency, s.ordinal, s.token_hash, s.operator_token,
         s.token, s.sealed_token, s.ended_at IS NULL AND s.expires_at > clock_timestamp() AS live,
         ${MARK} AS mark
    FROM sessions s
   WHERE ${MARK} ${comparison} $1::bytea AND (${MARK}, s.id) > ($2::bytea, $3::bigint)
   ORDER BY ${MARK}, s.id LIMIT $4::int)`;

const FIND_BEHIND: Statement = {
  name: 'session-find-behind',
  text: `SELECT * FROM (${beside('<')} UNION ALL ${beside('>')}) behind
          ORDER BY mark, id LIMIT $4::int`,
};

const COUNT_BEHIND: Statement = {
  name: 'session-count-behind',
  text: `
  SELECT ((SELECT count(*) FROM sessions s WHERE ${MARK} < $1::bytea)
        + (SELECT count(*) FROM sessions s WHERE ${MARK} > $1::bytea))::int AS behind`,
};

const RESEAL: Statement = {
  name: 'session-reseal',
  text: `
  UPDATE sessions s
     SET operator_token = n.operator_token, sealed_token = n.sealed_token, token = NULL
    FROM unnest($1::bigint[], $2::bytea[], $3::bytea[], $4::bytea[])
         AS n(id, was, operator_token, sealed_token)
   WHERE s.id = n.id AND s.operator_token = n.was
  RETURNING s.id`,
};
