import type { Database } from '../database.ts';
import { named, namedColumns } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';
import { TENANT, type Tenant } from './tenant.ts';

/** A bonus and its player; the bonus belongs to the player's operator. */
export interface OwnedBonus {
  readonly bonusId: string;
  readonly templateId: string | undefined;
  readonly userId: string;
}

/** A template in a list, with its kept copy if there is one. */
export interface ListedTemplate {
  readonly templateId: string;
  /** The service's JSON of it; undefined while no copy is kept. */
  readonly item: string | undefined;
}

/**
 * Owners of templates and bonuses, and copies of templates. Each query names the operator (I8). Throws GatewayError.
 */
export class BonusOwnership {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async ownsTemplate(tenant: Tenant, templateId: string): Promise<boolean> {
    const rows = await this.#database.run(OWNS_TEMPLATE, { ...tenant, templateId });
    return rows.length > 0;
  }

  /** Which of these bonuses are known to be the operator's; to it, all others do not exist. */
  async ownBonuses(tenant: Tenant, bonusIds: readonly string[]): Promise<ReadonlySet<string>> {
    return new Set(await this.#database.run(OWN_BONUSES, { ...tenant, bonusIds }));
  }

  /** Remembers bonuses of the operator's players. */
  async recordBonuses(tenant: Tenant, bonuses: readonly OwnedBonus[]): Promise<void> {
    if (bonuses.length === 0) return;
    await this.#database.run(RECORD_BONUSES, { ...tenant, ...listsOf(bonuses) });
  }

  /** How many templates the operator sees: its own and the shared ones. */
  async countTemplates(tenant: Tenant, shared: readonly number[]): Promise<number> {
    const [count] = await this.#database.run(COUNT_TEMPLATES, { ...tenant, shared });
    return count ?? 0;
  }

  /** A page of the templates that the operator sees, oldest first. */
  async listTemplates(
    tenant: Tenant,
    shared: readonly number[],
    page: { readonly limit: number; readonly offset: number },
  ): Promise<readonly ListedTemplate[]> {
    return await this.#database.run(LIST_TEMPLATES, { ...tenant, shared, ...page });
  }

  /** Keeps templates as the service has just shown them; null: according to the service there is none. */
  async keepCopies(
    upstreamCid: string,
    copies: readonly { readonly templateId: string; readonly item: string | null }[],
  ): Promise<void> {
    if (copies.length === 0) return;
    const byId = new Map(copies.map(({ templateId, item }) => [templateId, item]));
    const [templateIds, items] = [[...byId.keys()], [...byId.values()]];
    await this.#database.run(KEEP_COPIES, { upstreamCid, templateIds, items });
  }
}

const OWNS_TEMPLATE = statement(
  'bonus-template-owned',
  named({ ...TENANT, template_id: 'bigint' }),
  `SELECT 1 FROM bonus_templates
    WHERE upstream_cid = :upstream_cid AND operator_id = :operator_id
      AND template_id = :template_id`,
  noRow,
);

const OWN_BONUSES = statement(
  'bonus-owned',
  named({ ...TENANT, bonus_ids: 'bigint[]' }),
  `SELECT bonus_id FROM bonuses
    WHERE upstream_cid = :upstream_cid AND operator_id = :operator_id
      AND bonus_id = ANY (:bonus_ids)`,
  (row) => row.text('bonus_id'),
);

/**
 * Members of a `WITH` that record bonuses as the service shows them: a restored service assigns ids again.
 * @param given a source of rows with `bonus_id`, `template_id` and `user_id`
 */
export const recording = (given: string) => `
  shown AS (
    SELECT DISTINCT ON (bonus_id) bonus_id, template_id, user_id FROM ${given} ORDER BY bonus_id
  ), moved AS (
    UPDATE bonuses b
       SET operator_id = :operator_id, template_id = shown.template_id, user_id = shown.user_id,
           created_at = clock_timestamp()
      FROM shown
     WHERE b.upstream_cid = :upstream_cid AND b.bonus_id = shown.bonus_id
       AND b.user_id <> shown.user_id
  ), recorded AS (
    INSERT INTO bonuses (upstream_cid, operator_id, bonus_id, template_id, user_id)
    SELECT :upstream_cid, :operator_id, bonus_id, template_id, user_id FROM shown ORDER BY bonus_id
    ON CONFLICT DO NOTHING
  )`;

/** Bonuses given as lists. */
export const LISTED_BONUSES =
  'unnest(:bonus_ids, :template_ids, :user_ids) AS b(bonus_id, template_id, user_id)';

export const LISTED = {
  bonus_ids: 'bigint[]',
  template_ids: 'bigint[]',
  user_ids: 'text[]',
} as const;

export const listsOf = (bonuses: readonly OwnedBonus[]) => ({
  bonusIds: bonuses.map(({ bonusId }) => bonusId),
  templateIds: bonuses.map(({ templateId }) => templateId ?? null),
  userIds: bonuses.map(({ userId }) => userId),
});

const RECORD_BONUSES = statement(
  'bonus-record',
  named({ ...TENANT, ...LISTED }),
  `WITH ${recording(LISTED_BONUSES)} SELECT`,
  noRow,
);

const SEEN = { ...TENANT, shared: 'bigint[]' } as const;

/** Without templates that do not exist according to the service. */
const VISIBLE = `
  FROM (SELECT template_id FROM bonus_templates
         WHERE upstream_cid = :upstream_cid AND operator_id = :operator_id
        UNION SELECT unnest(:shared)) AS seen
  LEFT JOIN bonus_template_copies c
         ON c.upstream_cid = :upstream_cid AND c.template_id = seen.template_id
 WHERE c.template_id IS NULL OR c.item IS NOT NULL`;

const COUNT_TEMPLATES = statement(
  'bonus-templates-count',
  named(SEEN),
  `SELECT count(*)::int AS count ${VISIBLE}`,
  (row) => row.int('count'),
);

const LIST_TEMPLATES = statement(
  'bonus-templates-list',
  named({ ...SEEN, limit: 'bigint', offset: 'bigint' }),
  `SELECT seen.template_id, c.item ${VISIBLE}
    ORDER BY seen.template_id LIMIT :limit OFFSET :offset`,
  namedColumns({ template_id: 'text', item: 'text?' }),
);

const KEEP_COPIES = statement(
  'bonus-template-copies-keep',
  named({ upstream_cid: 'text', template_ids: 'bigint[]', items: 'text[]' }),
  `INSERT INTO bonus_template_copies (upstream_cid, template_id, item, seen_at)
   SELECT :upstream_cid, template_id, item, clock_timestamp()
     FROM unnest(:template_ids, :items) AS c(template_id, item)
    ORDER BY template_id
   ON CONFLICT (upstream_cid, template_id)
   DO UPDATE SET item = excluded.item, seen_at = excluded.seen_at`,
  noRow,
);
