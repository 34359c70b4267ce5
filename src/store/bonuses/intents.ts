import { DatabaseError } from 'pg';
import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';
import type { OwnedBonus, Tenant } from './ownership.ts';

/** What an operator was told, status and body. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

/** What became of the wish to ask the service for something. */
export type BegunIntent =
  /** Written and committed: the service may be asked, once. */
  | { readonly kind: 'begun'; readonly intentId: string }
  /** The same body was asked for before, and this was the answer. */
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  /** The same body was asked for before, and nobody knows yet what came of it. */
  | { readonly kind: 'open' }
  /** Another body of the operator's is open for one of these players. */
  | { readonly kind: 'playersOpen' };

export interface NewIntent {
  readonly tenant: Tenant;
  /** SHA-256 of the canonical body. */
  readonly bodyHash: Buffer;
  /** As the operator sent it. */
  readonly body: string;
  /** The read-back leaves it alone for this long: its request is still under way. */
  readonly patienceMs: number;
}

/**
 * What operators asked for, written before the service is asked, so that a crash between the two
 * can neither orphan nor leak what was made (I3, I8). Every method throws GatewayError
 * `DATABASE_UNAVAILABLE`.
 */
export class BonusIntents {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @param aboveId the highest template id there was before; what is made has a higher one */
  async beginCreate(intent: NewIntent, aboveId: string): Promise<BegunIntent> {
    const { tenant, bodyHash, body, patienceMs } = intent;
    const [row] = await this.#database.query<{ id: string }>(BEGIN_CREATE, [
      tenant.upstreamCid,
      tenant.operatorId,
      bodyHash,
      body,
      patienceMs,
      aboveId,
    ]);
    if (row !== undefined) return { kind: 'begun', intentId: row.id };
    return (await this.findEqual(intent, 'create')) ?? { kind: 'open' };
  }

  /** @param userIds the aggregator's ids of the players, each once */
  async beginApply(
    intent: NewIntent,
    templateId: string,
    userIds: readonly string[],
  ): Promise<BegunIntent> {
    const { tenant, bodyHash, body, patienceMs } = intent;
    try {
      const [row] = await this.#database.query<{ id: string }>(BEGIN_APPLY, [
        tenant.upstreamCid,
        tenant.operatorId,
        bodyHash,
        body,
        patienceMs,
        templateId,
        userIds,
      ]);
      if (row !== undefined) return { kind: 'begun', intentId: row.id };
    } catch (error) {
      if (!isOpenGrant(error)) throw error;
      return { kind: 'playersOpen' };
    }
    return (await this.findEqual(intent, 'apply')) ?? { kind: 'open' };
  }

  /** What an equal body of the same operator came to, unless it certainly failed. */
  async findEqual(
    { tenant, bodyHash }: Pick<NewIntent, 'tenant' | 'bodyHash'>,
    kind: 'create' | 'apply',
  ): Promise<Extract<BegunIntent, { kind: 'answered' | 'open' }> | undefined> {
    const [row] = await this.#database.query<AnswerRow>(FIND_EQUAL, [
      tenant.upstreamCid,
      tenant.operatorId,
      kind,
      bodyHash,
    ]);
    if (row === undefined) return undefined;
    const { answer_status: status, answer_body: body } = row;
    if (row.state !== 'done' || status === null || body === null) return { kind: 'open' };
    return { kind: 'answered', answer: { status, body } };
  }

  /**
   * The template is made: it is the operator's from now on, and its answer is kept.
   * @returns false when the template is another operator's already, which no honest service says
   */
  async finishCreate(
    tenant: Tenant,
    intentId: string,
    template: { readonly templateId: string; readonly item: string },
    answer: KeptAnswer,
  ): Promise<boolean> {
    const [row] = await this.#database.query<{ own: boolean }>(FINISH_CREATE, [
      tenant.upstreamCid,
      tenant.operatorId,
      intentId,
      template.templateId,
      template.item,
      answer.status,
      answer.body,
    ]);
    return row?.own === true;
  }

  /** The service has answered a batch: what it issued is the operator's. */
  async finishApply(
    tenant: Tenant,
    intentId: string,
    issued: readonly OwnedBonus[],
    answer: KeptAnswer,
  ): Promise<void> {
    await this.#database.query(FINISH_APPLY, [
      tenant.upstreamCid,
      tenant.operatorId,
      intentId,
      issued.map(({ bonusId }) => bonusId),
      issued.map(({ templateId }) => templateId ?? null),
      issued.map(({ userId }) => userId),
      answer.status,
      answer.body,
    ]);
  }

  /** Certainly nothing was made: the same may be asked for again. */
  async fail(intentId: string, reason: string): Promise<void> {
    await this.#database.query(FAIL, [intentId, reason]);
  }

  /** Open intents by operator, older than a request may take. */
  async countOpen(): Promise<
    readonly { readonly operator: string; readonly kind: string; readonly count: number }[]
  > {
    return await this.#database.query(COUNT_OPEN, []);
  }
}

interface AnswerRow {
  readonly state: 'open' | 'done';
  readonly answer_status: number | null;
  readonly answer_body: string | null;
}

function isOpenGrant(error: unknown): boolean {
  return (
    error instanceof DatabaseError &&
    error.code === '23505' &&
    error.constraint === 'bonus_grants_open_key'
  );
}

const LOOK_AT = 'clock_timestamp() + make_interval(secs => $5::float8 / 1000)';

const BODY_KEY = `(upstream_cid, operator_id, kind, body_hash) WHERE state <> 'failed'`;

const BEGIN_CREATE: Statement = {
  name: 'bonus-intent-create',
  text: `INSERT INTO bonus_intents
                (upstream_cid, operator_id, kind, body_hash, body, look_at, above_id)
         VALUES ($1, $2, 'create', $3, $4, ${LOOK_AT}, $6)
         ON CONFLICT ${BODY_KEY} DO NOTHING RETURNING id`,
};

// Players in order, so that two batches with the same ones do not wait for each other in a ring.
const BEGIN_APPLY: Statement = {
  name: 'bonus-intent-apply',
  text: `
  WITH intent AS (
    INSERT INTO bonus_intents
           (upstream_cid, operator_id, kind, body_hash, body, look_at, template_id)
    VALUES ($1::text, $2::text, 'apply', $3, $4, ${LOOK_AT}, $6::bigint)
    ON CONFLICT ${BODY_KEY} DO NOTHING RETURNING id, look_at
  ), asked AS (
    INSERT INTO bonus_grants
           (intent_id, upstream_cid, operator_id, template_id, user_id, look_at)
    SELECT intent.id, $1::text, $2::text, $6::bigint, player, intent.look_at
      FROM intent, unnest($7::text[]) AS player ORDER BY player
  )
  SELECT id FROM intent`,
};

const FIND_EQUAL: Statement = {
  name: 'bonus-intent-equal',
  text: `SELECT state, answer_status, answer_body FROM bonus_intents
          WHERE upstream_cid = $1 AND operator_id = $2 AND kind = $3 AND body_hash = $4
            AND state <> 'failed'`,
};

const FINISH_CREATE: Statement = {
  name: 'bonus-intent-created',
  text: `
  WITH owned AS (
    INSERT INTO bonus_templates (upstream_cid, operator_id, template_id, origin)
    VALUES ($1::text, $2::text, $4::bigint, 'created')
    ON CONFLICT (upstream_cid, template_id)
    DO UPDATE SET operator_id = bonus_templates.operator_id
    RETURNING operator_id = $2::text AS own
  ), kept AS (
    INSERT INTO bonus_template_copies (upstream_cid, template_id, item, seen_at)
    VALUES ($1::text, $4::bigint, $5, clock_timestamp())
    ON CONFLICT (upstream_cid, template_id)
    DO UPDATE SET item = excluded.item, seen_at = excluded.seen_at
  ), closed AS (
    UPDATE bonus_intents
       SET state = 'done', template_id = $4::bigint, answer_status = $6, answer_body = $7,
           ambiguous = false, closed_at = clock_timestamp()
     WHERE id = $3 AND state = 'open' AND (SELECT own FROM owned)
  )
  SELECT own FROM owned`,
};

const FINISH_APPLY: Statement = {
  name: 'bonus-intent-applied',
  text: `
  WITH recorded AS (
    INSERT INTO bonuses (upstream_cid, operator_id, bonus_id, template_id, user_id)
    SELECT $1::text, $2::text, bonus_id, template_id, user_id
      FROM unnest($4::bigint[], $5::bigint[], $6::text[]) AS b(bonus_id, template_id, user_id)
     ORDER BY bonus_id
    ON CONFLICT DO NOTHING
  ), answered AS (
    UPDATE bonus_grants
       SET state = CASE WHEN user_id = ANY ($6::text[]) THEN 'issued' ELSE 'refused' END
     WHERE intent_id = $3 AND state = 'open'
  )
  UPDATE bonus_intents
     SET state = 'done', answer_status = $7, answer_body = $8, closed_at = clock_timestamp()
   WHERE id = $3 AND state = 'open'`,
};

const FAIL: Statement = {
  name: 'bonus-intent-failed',
  text: `
  WITH ended AS (
    UPDATE bonus_grants SET state = 'refused' WHERE intent_id = $1 AND state = 'open'
  )
  UPDATE bonus_intents
     SET state = 'failed', reason = $2, ambiguous = false, closed_at = clock_timestamp()
   WHERE id = $1 AND state = 'open'`,
};

const COUNT_OPEN: Statement = {
  name: 'bonus-intents-count',
  text: `SELECT operator_id AS operator, kind, count(*)::int AS count FROM bonus_intents
          WHERE state = 'open' GROUP BY 1, 2`,
};
