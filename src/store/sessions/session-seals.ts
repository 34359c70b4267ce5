import type { Database } from '../database.ts';
import { named } from '../sql/named.ts';
import { batchStatement, noRow, statement } from '../sql/statement.ts';

/** The columns of a session that sealing and recovering its tokens need. */
export interface SealedRow {
  readonly id: string;
  readonly operator_id: string;
  readonly player_id: string;
  readonly currency: string;
  readonly ordinal: number;
  readonly token_hash: Buffer;
  readonly operator_token: Buffer;
  readonly token: string | undefined;
  readonly sealed_token: Buffer | undefined;
  /** Neither ended nor expired: its token may be asked for again. */
  readonly live: boolean;
  /** The leading bytes of `operator_token`: how it is sealed, and with which key. */
  readonly mark: Buffer;
}

/** The position of a walk over the sessions. */
export interface SealPosition {
  readonly mark: Buffer;
  readonly id: string;
}

export const FIRST_POSITION: SealPosition = { mark: Buffer.alloc(0), id: '0' };

/** A session's resealed tokens. */
export interface Resealed {
  readonly id: string;
  /** The value that was read: a row changed in between is not overwritten. */
  readonly was: Buffer;
  readonly operatorToken: Buffer;
  readonly sealedToken: Buffer | undefined;
}

/** Reads and writes the sealed tokens of `sessions`. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class SessionSeals {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Sessions after a position whose operator token does not begin with `mark`, the prefix of the present key. */
  async findBehind(
    mark: Buffer,
    after: SealPosition,
    limit: number,
  ): Promise<readonly SealedRow[]> {
    return await this.#database.run(FIND_BEHIND, {
      mark,
      afterMark: after.mark,
      afterId: after.id,
      limit,
    });
  }

  async countBehind(mark: Buffer): Promise<number> {
    const [behind] = await this.#database.run(COUNT_BEHIND, { mark });
    return behind ?? 0;
  }

  /** @returns how many were written */
  async reseal(sessions: readonly Resealed[]): Promise<number> {
    return (await this.#database.run(RESEAL, sessions)).length;
  }
}

const MARK = 'substring(s.operator_token FROM 1 FOR 9)';

/** The ranges below and above the present mark, so that up-to-date sessions are never read. */
const beside = (comparison: '<' | '>') => `(
  SELECT s.id, s.operator_id, s.player_id, s.currency, s.ordinal, s.token_hash, s.operator_token,
         s.token, s.sealed_token, s.ended_at IS NULL AND s.expires_at > clock_timestamp() AS live,
         ${MARK} AS mark
    FROM sessions s
   WHERE ${MARK} ${comparison} :mark AND (${MARK}, s.id) > (:after_mark, :after_id)
   ORDER BY ${MARK}, s.id LIMIT :limit)`;

const FIND_BEHIND = statement(
  'session-find-behind',
  named({ mark: 'bytea', after_mark: 'bytea', after_id: 'bigint', limit: 'int' }),
  `SELECT * FROM (${beside('<')} UNION ALL ${beside('>')}) behind
    ORDER BY mark, id LIMIT :limit`,
  (row): SealedRow => ({
    id: row.text('id'),
    operator_id: row.text('operator_id'),
    player_id: row.text('player_id'),
    currency: row.text('currency'),
    ordinal: row.int('ordinal'),
    token_hash: row.bytes('token_hash'),
    operator_token: row.bytes('operator_token'),
    token: row.textOrNull('token'),
    sealed_token: row.bytesOrNull('sealed_token'),
    live: row.bool('live'),
    mark: row.bytes('mark'),
  }),
);

const COUNT_BEHIND = statement(
  'session-count-behind',
  named({ mark: 'bytea' }),
  `
  SELECT ((SELECT count(*) FROM sessions s WHERE ${MARK} < :mark)
        + (SELECT count(*) FROM sessions s WHERE ${MARK} > :mark))::int AS behind`,
  (row) => row.int('behind'),
);

const RESEAL = batchStatement(
  'session-reseal',
  named({ id: 'bigint', was: 'bytea', operator_token: 'bytea', sealed_token: 'bytea?' }),
  `
  UPDATE sessions s
     SET operator_token = i.operator_token, sealed_token = i.sealed_token, token = NULL
    FROM :input
   WHERE s.id = i.id AND s.operator_token = i.was
  RETURNING s.id`,
  noRow,
);
