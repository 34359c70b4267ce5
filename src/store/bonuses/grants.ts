import type { Database } from '../database.ts';
import { named, namedColumns } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';
import { recording } from './ownership.ts';
import { TENANT } from './tenant.ts';

/** One player's bonus from one template that was requested, with unknown outcome. */
export interface OpenGrant {
  readonly id: string;
  readonly intentId: string;
  readonly upstreamCid: string;
  readonly operatorId: string;
  readonly templateId: string;
  /** The aggregator's id of the player. */
  readonly userId: string;
  /** The next page of the player's bonuses to read. */
  readonly page: number;
  /** How often all of the player's bonuses have been read since, with the present look if that is the last. */
  readonly looks: number;
  readonly ageMs: number;
}

/** A batch whose outcome is known for every player. */
export interface SettledBatch {
  readonly upstreamCid: string;
  readonly operatorId: string;
  /** The bonuses found, as the service showed them; undefined unless all were found, or if they are too large. */
  readonly items: readonly string[] | undefined;
}

interface NextReading {
  readonly page: number;
  readonly looks: number;
  readonly delayMs: number;
}

/** The slow search for bonuses of unanswered batches, page by page, one replica at a time for each player. */
export class BonusGrants {
  readonly #database: Database;
  /** Operators that had their turn in this round: nobody must wait for one with a thousand players (I7). */
  readonly #served = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Claims the grant that has been due longest, in turn for each operator, for `leaseMs`. */
  async claim(upstreamCids: readonly string[], leaseMs: number): Promise<OpenGrant | undefined> {
    const claim = async () => {
      const due = { upstreamCids, leaseMs, served: [...this.#served] };
      const [grant] = await this.#database.run(CLAIM, due);
      if (grant !== undefined) this.#served.add(grant.operatorId);
      return grant;
    };
    const grant = await claim();
    if (grant !== undefined || this.#served.size === 0) return grant;
    this.#served.clear();
    return await claim();
  }

  /** Continues with another page, or with another look after a while. */
  async readAgain(id: string, next: NextReading): Promise<void> {
    await this.#database.run(READ_AGAIN, { ...next, id });
  }

  /** The bonus is the operator's from now on; one recorded before the batch began does not come from it. */
  async found(grant: OpenGrant, bonusId: string, item: string): Promise<void> {
    await this.#database.run(FOUND, { ...grant, bonusId, item });
  }

  async absent(id: string): Promise<void> {
    await this.#database.run(ABSENT, { id });
  }

  /** The batch, once no grant is open. @param bytesMax larger bonuses are not returned */
  async settled(intentId: string, bytesMax: number): Promise<SettledBatch | undefined> {
    const [batch] = await this.#database.run(SETTLED, { intentId, bytesMax });
    return batch;
  }

  /** Open batches without open grants: closing them was interrupted. */
  async leftOpen(): Promise<readonly string[]> {
    return await this.#database.run(LEFT_OPEN, {});
  }
}

/** Not the condition of the indexes of open grants: by old statistics PostgreSQL would read all of them. */
const IS_OPEN = `state IS NOT DISTINCT FROM 'open'`;

const CLAIM = statement(
  'bonus-grant-claim',
  named({ upstream_cids: 'text[]', lease_ms: 'float8', served: 'text[]' }),
  `
  UPDATE bonus_grants
     SET look_at = clock_timestamp() + make_interval(secs => :lease_ms / 1000)
   WHERE id = (SELECT id FROM bonus_grants
                WHERE state = 'open' AND look_at <= clock_timestamp()
                  AND upstream_cid = ANY (:upstream_cids) AND operator_id <> ALL (:served)
                ORDER BY look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, intent_id, upstream_cid, operator_id, template_id, user_id, page, looks,
            (EXTRACT(EPOCH FROM clock_timestamp() - created_at) * 1000)::float8 AS age_ms`,
  namedColumns({
    id: 'text',
    intent_id: 'text',
    upstream_cid: 'text',
    operator_id: 'text',
    template_id: 'text',
    user_id: 'text',
    page: 'int',
    looks: 'int',
    age_ms: 'int',
  }),
);

const READ_AGAIN = statement(
  'bonus-grant-look-again',
  named({ id: 'bigint', page: 'int', looks: 'int', delay_ms: 'float8' }),
  `UPDATE bonus_grants
      SET page = :page, looks = :looks,
          look_at = clock_timestamp() + make_interval(secs => :delay_ms / 1000)
    WHERE id = :id AND ${IS_OPEN}`,
  noRow,
);

const FOUND = statement(
  'bonus-grant-found',
  named({
    ...TENANT,
    id: 'bigint',
    bonus_id: 'bigint',
    template_id: 'bigint',
    user_id: 'text',
    item: 'text',
  }),
  `
  WITH known AS (
    SELECT 1 FROM bonuses b JOIN bonus_grants g ON g.id = :id
     WHERE b.upstream_cid = :upstream_cid AND b.bonus_id = :bonus_id AND b.user_id = :user_id
       AND b.created_at < g.created_at
  ), ${recording('(VALUES (:bonus_id, :template_id, :user_id)) AS b(bonus_id, template_id, user_id)')}
  UPDATE bonus_grants
     SET state = CASE WHEN EXISTS (SELECT 1 FROM known) THEN 'refused' ELSE 'issued' END,
         item = :item
   WHERE id = :id AND ${IS_OPEN}`,
  noRow,
);

const ABSENT = statement(
  'bonus-grant-absent',
  named({ id: 'bigint' }),
  `UPDATE bonus_grants SET state = 'absent' WHERE id = :id AND ${IS_OPEN}`,
  noRow,
);

// The items are read only if they become the answer: for a thousand players they may be hundreds of megabytes.
const SETTLED = statement(
  'bonus-grant-settled',
  named({ intent_id: 'bigint', bytes_max: 'bigint' }),
  `SELECT i.upstream_cid, i.operator_id, g.is_answer,
          CASE WHEN g.is_answer THEN (SELECT array_agg(item ORDER BY id) FROM bonus_grants
                                       WHERE intent_id = i.id) END AS items
     FROM bonus_intents i, LATERAL (
       SELECT bool_and(state <> 'open') AS is_settled,
              bool_and(state = 'issued' AND item IS NOT NULL)
                AND sum(octet_length(item)) <= :bytes_max AS is_answer
         FROM bonus_grants WHERE intent_id = i.id) g
    WHERE i.id = :intent_id AND i.kind = 'apply' AND i.state = 'open' AND g.is_settled`,
  (row): SettledBatch => ({
    upstreamCid: row.text('upstream_cid'),
    operatorId: row.text('operator_id'),
    items: row.bool('is_answer') ? row.texts('items') : undefined,
  }),
);

const LEFT_OPEN = statement(
  'bonus-grant-left-open',
  {},
  `SELECT i.id FROM bonus_intents i
    WHERE i.state = 'open' AND i.kind = 'apply' AND i.look_at <= clock_timestamp()
      AND NOT EXISTS (SELECT 1 FROM bonus_grants g
                       WHERE g.intent_id = i.id AND g.${IS_OPEN})`,
  (row) => row.text('id'),
);
