import type { Database } from '../database.ts';
import { noRow, type Parameters, statement } from '../statement.ts';
import { recording } from './ownership.ts';

/** One player's bonus of one template that was asked for, its outcome unknown. */
export interface OpenGrant {
  readonly id: string;
  readonly intentId: string;
  readonly upstreamCid: string;
  readonly operatorId: string;
  readonly templateId: string;
  /** The aggregator's id of the player. */
  readonly userId: string;
  /** Where to go on in the player's bonuses. */
  readonly page: number;
  /** How often all of the player's bonuses have been seen since. */
  readonly looks: number;
  readonly ageMs: number;
}

/** A batch of which every player's outcome is known. */
export interface SettledBatch {
  readonly intentId: string;
  readonly upstreamCid: string;
  readonly operatorId: string;
  /** The bonuses that were found, as the service showed them; undefined unless all were, or where they are too much. */
  readonly items: readonly string[] | undefined;
}

interface NextLook {
  readonly page: number;
  readonly looks: number;
  readonly delayMs: number;
}

/**
 * The slow look for bonuses whose batch fell silent, one player's page at a time, by one of all
 * replicas. Every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class BonusGrants {
  readonly #database: Database;
  /** Those who had their turn in this round: one with a thousand players must not be waited for (I7). */
  readonly #served = new Set<string>();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Claims the grant that is longest due, of one operator after the other; another process takes it
   * when `leaseMs` are over.
   */
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

  /** Goes on at another page, or with another look after a while. */
  async lookAgain(id: string, next: NextLook): Promise<void> {
    await this.#database.run(LOOK_AGAIN, { ...next, id });
  }

  /**
   * The player has the bonus: it is the operator's from now on. One that was recorded before the
   * batch began does not come from it: the batch was refused for this player.
   */
  async found(grant: OpenGrant, bonusId: string, item: string): Promise<void> {
    await this.#database.run(FOUND, { grant, bonusId, item });
  }

  async absent(id: string): Promise<void> {
    await this.#database.run(ABSENT, id);
  }

  /**
   * The batch, once nothing of it is open any more.
   * @param bytesMax no answer is made of bonuses that are more than this
   */
  async settled(intentId: string, bytesMax: number): Promise<SettledBatch | undefined> {
    const [batch] = await this.#database.run(SETTLED, { intentId, bytesMax });
    return batch;
  }

  /** Batches that were left open although nothing of theirs is: their closing was cut short. */
  async leftOpen(): Promise<readonly string[]> {
    return await this.#database.run(LEFT_OPEN, {});
  }
}

interface DueGrants {
  readonly upstreamCids: readonly string[];
  readonly leaseMs: number;
  /** Operators whose turn it is not. */
  readonly served: readonly string[];
}

const CLAIM = statement(
  'bonus-grant-claim',
  {
    cids: ['text[]', ({ upstreamCids }) => upstreamCids],
    lease_ms: ['float8', ({ leaseMs }) => leaseMs],
    served: ['text[]', ({ served }) => served],
  } satisfies Parameters<DueGrants>,
  `
  UPDATE bonus_grants
     SET look_at = clock_timestamp() + make_interval(secs => :lease_ms / 1000)
   WHERE id = (SELECT id FROM bonus_grants
                WHERE state = 'open' AND look_at <= clock_timestamp()
                  AND upstream_cid = ANY (:cids) AND operator_id <> ALL (:served)
                ORDER BY look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING id, intent_id, upstream_cid, operator_id, template_id, user_id, page, looks,
            (EXTRACT(EPOCH FROM clock_timestamp() - created_at) * 1000)::float8 AS age_ms`,
  (row): OpenGrant => ({
    id: row.text('id'),
    intentId: row.text('intent_id'),
    upstreamCid: row.text('upstream_cid'),
    operatorId: row.text('operator_id'),
    templateId: row.text('template_id'),
    userId: row.text('user_id'),
    page: row.int('page'),
    looks: row.int('looks'),
    ageMs: row.int('age_ms'),
  }),
);

const LOOK_AGAIN = statement(
  'bonus-grant-look-again',
  {
    id: ['bigint', ({ id }) => id],
    page: ['int', ({ page }) => page],
    looks: ['int', ({ looks }) => looks],
    delay_ms: ['float8', ({ delayMs }) => delayMs],
  } satisfies Parameters<NextLook & { readonly id: string }>,
  `UPDATE bonus_grants
      SET page = :page, looks = :looks,
          look_at = clock_timestamp() + make_interval(secs => :delay_ms / 1000)
    WHERE id = :id AND state = 'open'`,
  noRow,
);

interface FoundBonus {
  readonly grant: OpenGrant;
  readonly bonusId: string;
  readonly item: string;
}

const FOUND = statement(
  'bonus-grant-found',
  {
    id: ['bigint', ({ grant }) => grant.id],
    upstream_cid: ['text', ({ grant }) => grant.upstreamCid],
    operator_id: ['text', ({ grant }) => grant.operatorId],
    bonus_id: ['bigint', ({ bonusId }) => bonusId],
    template_id: ['bigint', ({ grant }) => grant.templateId],
    user_id: ['text', ({ grant }) => grant.userId],
    item: ['text', ({ item }) => item],
  } satisfies Parameters<FoundBonus>,
  `
  WITH known AS (
    SELECT 1 FROM bonuses b JOIN bonus_grants g ON g.id = :id
     WHERE b.upstream_cid = :upstream_cid AND b.bonus_id = :bonus_id AND b.user_id = :user_id
       AND b.created_at < g.created_at
  ), ${recording('(VALUES (:bonus_id, :template_id, :user_id)) AS b(bonus_id, template_id, user_id)')}
  UPDATE bonus_grants
     SET state = CASE WHEN EXISTS (SELECT 1 FROM known) THEN 'refused' ELSE 'issued' END,
         item = :item
   WHERE id = :id AND state = 'open'`,
  noRow,
);

const ABSENT = statement(
  'bonus-grant-absent',
  { id: ['bigint', (id) => id] } satisfies Parameters<string>,
  `UPDATE bonus_grants SET state = 'absent' WHERE id = :id AND state = 'open'`,
  noRow,
);

interface WhichBatch {
  readonly intentId: string;
  readonly bytesMax: number;
}

// The items are read only where they are the answer: of a thousand players they may be hundreds of megabytes.
const SETTLED = statement(
  'bonus-grant-settled',
  {
    id: ['bigint', ({ intentId }) => intentId],
    bytes_max: ['bigint', ({ bytesMax }) => bytesMax],
  } satisfies Parameters<WhichBatch>,
  `SELECT i.id, i.upstream_cid, i.operator_id, g.is_answer,
          CASE WHEN g.is_answer THEN (SELECT array_agg(item ORDER BY id) FROM bonus_grants
                                       WHERE intent_id = i.id) END AS items
     FROM bonus_intents i, LATERAL (
       SELECT bool_and(state <> 'open') AS is_settled,
              bool_and(state = 'issued' AND item IS NOT NULL)
                AND sum(octet_length(item)) <= :bytes_max AS is_answer
         FROM bonus_grants WHERE intent_id = i.id) g
    WHERE i.id = :id AND i.kind = 'apply' AND i.state = 'open' AND g.is_settled`,
  (row): SettledBatch => ({
    intentId: row.text('id'),
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
                       WHERE g.intent_id = i.id AND g.state = 'open')`,
  (row) => row.text('id'),
);
