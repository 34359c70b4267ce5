import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';

/** A bonus together with its player, whose operator it belongs to. */
export interface OwnedBonus {
  readonly bonusId: string;
  readonly templateId: string | undefined;
  readonly userId: string;
}

/** Templates of a list, as much as is kept of them. */
export interface ListedTemplate {
  readonly templateId: string;
  /** The service's JSON of it; undefined while no copy is kept. */
  readonly item: string | undefined;
}

/** One operator at one partner account of the service. */
export interface Tenant {
  readonly operatorId: string;
  /** Ids of templates and bonuses are those of this account. */
  readonly upstreamCid: string;
}

/**
 * Whose a template or bonus is, and the kept copies of templates. Ids are decimal text. Every
 * question names the operator (I8); every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class BonusOwnership {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async ownsTemplate(tenant: Tenant, templateId: string): Promise<boolean> {
    const rows = await this.#database.query(OWNS_TEMPLATE, [...keyOf(tenant), templateId]);
    return rows.length > 0;
  }

  /** Which of these bonuses are known to be the operator's; all others are nobody's to it. */
  async ownBonuses(tenant: Tenant, bonusIds: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#database.query<{ bonus_id: string }>(OWN_BONUSES, [
      ...keyOf(tenant),
      bonusIds,
    ]);
    return new Set(rows.map((row) => row.bonus_id));
  }

  /** Remembers bonuses of the operator's players. What is known already stays as it is. */
  async recordBonuses(tenant: Tenant, bonuses: readonly OwnedBonus[]): Promise<void> {
    if (bonuses.length === 0) return;
    await this.#database.query(RECORD_BONUSES, [
      ...keyOf(tenant),
      bonuses.map(({ bonusId }) => bonusId),
      bonuses.map(({ templateId }) => templateId ?? null),
      bonuses.map(({ userId }) => userId),
    ]);
  }

  /** How many templates the operator sees: its own and the shared ones. */
  async countTemplates(tenant: Tenant, shared: readonly number[]): Promise<number> {
    const rows = await this.#database.query<{ count: number }>(COUNT_TEMPLATES, [
      ...keyOf(tenant),
      shared,
    ]);
    return rows[0]?.count ?? 0;
  }

  /** A page of what the operator sees, oldest first. */
  async listTemplates(
    tenant: Tenant,
    shared: readonly number[],
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<readonly ListedTemplate[]> {
    const rows = await this.#database.query<{ template_id: string; item: string | null }>(
      LIST_TEMPLATES,
      [...keyOf(tenant), shared, limit, offset],
    );
    return rows.map((row) => ({ templateId: row.template_id, item: row.item ?? undefined }));
  }

  /** Keeps templates as the service has just shown them; null: it says there is no such one. */
  async keepCopies(
    upstreamCid: string,
    copies: readonly { readonly templateId: string; readonly item: string | null }[],
  ): Promise<void> {
    if (copies.length === 0) return;
    const byId = new Map(copies.map(({ templateId, item }) => [templateId, item]));
    await this.#database.query(KEEP_COPIES, [upstreamCid, [...byId.keys()], [...byId.values()]]);
  }
}

function keyOf({ upstreamCid, operatorId }: Tenant): readonly [string, string] {
  return [upstreamCid, operatorId];
}

const OWNS_TEMPLATE: Statement = {
  name: 'bonus-template-owned',
  text: `SELECT 1 FROM bonus_templates
          WHERE upstream_cid = $1 AND operator_id = $2 AND template_id = $3`,
};

const OWN_BONUSES: Statement = {
  name: 'bonus-owned',
  text: `SELECT bonus_id FROM bonuses
          WHERE upstream_cid = $1 AND operator_id = $2 AND bonus_id = ANY ($3::bigint[])`,
};

const RECORD_BONUSES: Statement = {
  name: 'bonus-record',
  text: `INSERT INTO bonuses (upstream_cid, operator_id, bonus_id, template_id, user_id)
         SELECT $1::text, $2::text, bonus_id, template_id, user_id
           FROM unnest($3::bigint[], $4::bigint[], $5::text[]) AS b(bonus_id, template_id, user_id)
          ORDER BY bonus_id
         ON CONFLICT DO NOTHING`,
};

/** Without what the service says does not exist. */
const VISIBLE = `
  FROM (SELECT template_id FROM bonus_templates WHERE upstream_cid = $1 AND operator_id = $2
        UNION SELECT unnest($3::bigint[])) AS seen
  LEFT JOIN bonus_template_copies c
         ON c.upstream_cid = $1 AND c.template_id = seen.template_id
 WHERE c.template_id IS NULL OR c.item IS NOT NULL`;

const COUNT_TEMPLATES: Statement = {
  name: 'bonus-templates-count',
  text: `SELECT count(*)::int AS count ${VISIBLE}`,
};

const LIST_TEMPLATES: Statement = {
  name: 'bonus-templates-list',
  text: `SELECT seen.template_id, c.item ${VISIBLE}
          ORDER BY seen.template_id LIMIT $4 OFFSET $5`,
};

const KEEP_COPIES: Statement = {
  name: 'bonus-template-copies-keep',
  text: `INSERT INTO bonus_template_copies (upstream_cid, template_id, item, seen_at)
         SELECT $1::text, template_id, item, clock_timestamp()
           FROM unnest($2::bigint[], $3::text[]) AS c(template_id, item)
          ORDER BY template_id
         ON CONFLICT (upstream_cid, template_id)
         DO UPDATE SET item = excluded.item, seen_at = excluded.seen_at`,
};
