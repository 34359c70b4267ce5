import { named, namedColumns } from '../sql/named.ts';
import { type Columns, noRow, statement } from '../sql/statement.ts';
import { LISTED, LISTED_BONUSES, recording } from './ownership.ts';
import { TENANT, type Tenant } from './tenant.ts';

/** The answer that an operator was given: status and body. */
export interface KeptAnswer {
  readonly status: number;
  readonly body: string;
}

export interface NewIntent {
  readonly tenant: Tenant;
  /** SHA-256 of the canonical body. */
  readonly bodyHash: Buffer;
  /** What the operator asks for, as JSON: without `cid`, `path`, `at` and `nonce`, as they come with each attempt anew. */
  readonly body: string;
  /** The read-back ignores it for this long, while its request is still under way. */
  readonly patienceMs: number;
}

export type IntentKind = 'create' | 'apply';

/** The states in which an equal body counts; a failed one does not. */
const STATES = ['open', 'done'] as const;

const NEW_INTENT = {
  ...TENANT,
  body_hash: 'bytea',
  body: 'text',
  patience_ms: 'float8',
} as const;

const LOOK_AT = 'clock_timestamp() + make_interval(secs => :patience_ms / 1000)';

const BODY_KEY = `(upstream_cid, operator_id, kind, body_hash) WHERE state <> 'failed'`;

export const BEGIN_CREATE = statement(
  'bonus-intent-create',
  named({ ...NEW_INTENT, above_id: 'bigint' }),
  `INSERT INTO bonus_intents
          (upstream_cid, operator_id, kind, body_hash, body, look_at, above_id)
   VALUES (:upstream_cid, :operator_id, 'create', :body_hash, :body, ${LOOK_AT}, :above_id)
   ON CONFLICT ${BODY_KEY} DO NOTHING RETURNING id`,
  (row) => row.text('id'),
);

/** At most one open intent for each player and template. */
export const OPEN_GRANT = 'bonus_grants_open_key';

// Players in order, so that two batches with the same players do not deadlock.
export const BEGIN_APPLY = statement(
  'bonus-intent-apply',
  named({ ...NEW_INTENT, template_id: 'bigint', user_ids: 'text[]' }),
  `
  WITH intent AS (
    INSERT INTO bonus_intents
           (upstream_cid, operator_id, kind, body_hash, body, look_at, template_id)
    VALUES (:upstream_cid, :operator_id, 'apply', :body_hash, :body, ${LOOK_AT}, :template_id)
    ON CONFLICT ${BODY_KEY} DO NOTHING RETURNING id, look_at
  ), asked AS (
    INSERT INTO bonus_grants
           (intent_id, upstream_cid, operator_id, template_id, user_id, look_at)
    SELECT intent.id, :upstream_cid, :operator_id, :template_id, player, intent.look_at
      FROM intent, unnest(:user_ids) AS player ORDER BY player
  )
  SELECT id FROM intent`,
  (row) => row.text('id'),
);

export const FIND_EQUAL = statement(
  'bonus-intent-equal',
  named({ ...TENANT, kind: 'text', body_hash: 'bytea' }),
  `SELECT state, answer_status, answer_body FROM bonus_intents
    WHERE upstream_cid = :upstream_cid AND operator_id = :operator_id AND kind = :kind
      AND body_hash = :body_hash AND state <> 'failed'`,
  (row) => ({ answer: answerOf(row) }),
);

function answerOf(row: Columns): KeptAnswer | undefined {
  const status = row.intOrNull('answer_status');
  const body = row.textOrNull('answer_body');
  const isDone = row.oneOf('state', STATES) === 'done';
  return isDone && status !== undefined && body !== undefined ? { status, body } : undefined;
}

/** Whether the template is the operator's own. */
export const FINISH_CREATE = statement(
  'bonus-intent-created',
  named({
    ...TENANT,
    intent_id: 'bigint',
    template_id: 'bigint',
    item: 'text',
    answer_status: 'int',
    answer_body: 'text',
  }),
  `
  WITH owned AS (
    INSERT INTO bonus_templates (upstream_cid, operator_id, template_id, origin)
    VALUES (:upstream_cid, :operator_id, :template_id, 'created')
    ON CONFLICT (upstream_cid, template_id)
    DO UPDATE SET operator_id = bonus_templates.operator_id
    RETURNING operator_id = :operator_id AS own
  ), kept AS (
    INSERT INTO bonus_template_copies (upstream_cid, template_id, item, seen_at)
    VALUES (:upstream_cid, :template_id, :item, clock_timestamp())
    ON CONFLICT (upstream_cid, template_id)
    DO UPDATE SET item = excluded.item, seen_at = excluded.seen_at
  ), closed AS (
    UPDATE bonus_intents
       SET state = 'done', template_id = :template_id, answer_status = :answer_status,
           answer_body = :answer_body, ambiguous = false, closed_at = clock_timestamp()
     WHERE id = :intent_id AND state = 'open' AND (SELECT own FROM owned)
  )
  SELECT own FROM owned`,
  (row) => row.bool('own'),
);

/** The bodies of the account's other creates that the template may belong to: open ones, and what has become it. */
export const OTHER_CREATES = statement(
  'bonus-intent-other-creates',
  named({ upstream_cid: 'text', intent_id: 'bigint', template_id: 'bigint' }),
  `SELECT body FROM bonus_intents
    WHERE upstream_cid = :upstream_cid AND state = 'open' AND kind = 'create' AND id <> :intent_id
   UNION ALL
   SELECT body FROM bonus_intents
    WHERE upstream_cid = :upstream_cid AND template_id = :template_id AND kind = 'create'
      AND state = 'done' AND id <> :intent_id`,
  (row) => row.text('body'),
);

export const FINISH_APPLY = statement(
  'bonus-intent-applied',
  named({
    ...TENANT,
    ...LISTED,
    intent_id: 'bigint',
    answer_status: 'int',
    answer_body: 'text',
  }),
  `
  WITH ${recording(LISTED_BONUSES)}, answered AS (
    UPDATE bonus_grants
       SET state = CASE WHEN user_id = ANY (:user_ids) THEN 'issued' ELSE 'refused' END
     WHERE intent_id = :intent_id AND state = 'open'
  )
  UPDATE bonus_intents
     SET state = 'done', answer_status = :answer_status, answer_body = :answer_body,
         closed_at = clock_timestamp()
   WHERE id = :intent_id AND state = 'open'`,
  noRow,
);

export const FAIL_INTENT = statement(
  'bonus-intent-failed',
  named({ intent_id: 'bigint', reason: 'text' }),
  `
  WITH ended AS (
    UPDATE bonus_grants SET state = 'refused' WHERE intent_id = :intent_id AND state = 'open'
  )
  UPDATE bonus_intents
     SET state = 'failed', reason = :reason, ambiguous = false, closed_at = clock_timestamp()
   WHERE id = :intent_id AND state = 'open'`,
  noRow,
);

export const COUNT_OPEN_INTENTS = statement(
  'bonus-intents-count',
  {},
  `SELECT operator_id AS operator, kind, count(*)::int AS count FROM bonus_intents
    WHERE state = 'open' GROUP BY 1, 2`,
  namedColumns({ operator: 'text', kind: 'text', count: 'int' }),
);
