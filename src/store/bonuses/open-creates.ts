import type { Database } from '../database.ts';
import { named, namedColumns } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';
import type { ClaimedPage } from './walks.ts';

/** A create of unknown outcome. */
export interface OpenCreate {
  readonly id: string;
  readonly operatorId: string;
  readonly body: string;
  /** The highest template id before the service was asked. */
  readonly aboveId: string;
  readonly passes: number;
  /** How old it was when the present walk began: what came later, the walk may have passed by. */
  readonly ageMs: number;
  /** Whether the present walk began after the create's request had certainly ended, and so covers it. */
  readonly isDue: boolean;
  /** Whether a person has already been asked to decide. */
  readonly ambiguous: boolean;
  /** When it was due for a look, as PostgreSQL's text. */
  readonly lookAt: string;
}

/** A template that an open create may have become. */
export interface Candidate {
  readonly templateId: string;
  readonly item: string;
  /** Set if a person has assigned it to an operator. */
  readonly assignedTo: string | undefined;
}

/** Creates of unknown outcome, and the templates they may have become. Every method throws GatewayError. */
export class OpenCreates {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** All open creates (`isDue` false: perhaps still under way); none once another process has claimed the walk. */
  async of(claimed: ClaimedPage): Promise<readonly OpenCreate[]> {
    return await this.#database.run(OPEN_CREATES, claimed);
  }

  /** Templates seen by the present walk that belong to no create and no operator, except by assignment. */
  async candidates(upstreamCid: string, aboveId: string): Promise<readonly Candidate[]> {
    return await this.#database.run(CANDIDATES, { upstreamCid, aboveId });
  }

  /** A complete walk did not settle it: read again after `delayMs`, or at once after a new assignment. */
  async readAgain(create: OpenCreate, delayMs: number, isAmbiguous: boolean): Promise<void> {
    await this.#database.run(READ_AGAIN, { ...create, delayMs, isAmbiguous });
  }
}

const OPEN_CREATES = statement(
  'bonus-walk-open-creates',
  named({ upstream_cid: 'text', lease_until: 'timestamptz' }),
  `SELECT i.id, i.operator_id, i.body, i.above_id, i.passes, i.ambiguous,
          i.look_at::text AS look_at,
          -- No walk has begun yet: nothing is due.
          coalesce(i.look_at <= w.started_at, false) AS is_due,
          coalesce(EXTRACT(EPOCH FROM w.started_at - i.created_at) * 1000, 0)::float8 AS age_ms
     FROM bonus_intents i
     JOIN bonus_walks w ON w.upstream_cid = i.upstream_cid AND w.lease_until = :lease_until
    WHERE i.upstream_cid = :upstream_cid AND i.kind = 'create' AND i.state = 'open'
    ORDER BY i.id`,
  namedColumns({
    id: 'text',
    operator_id: 'text',
    body: 'text',
    above_id: 'text',
    passes: 'int',
    age_ms: 'int',
    is_due: 'bool',
    ambiguous: 'bool',
    look_at: 'text',
  }),
);

const CANDIDATES = statement(
  'bonus-walk-candidates',
  named({ upstream_cid: 'text', above_id: 'bigint' }),
  `SELECT c.template_id, c.item, t.operator_id
     FROM bonus_template_copies c
     JOIN bonus_walks w ON w.upstream_cid = c.upstream_cid AND c.seen_at >= w.started_at
     LEFT JOIN bonus_templates t
            ON t.upstream_cid = c.upstream_cid AND t.template_id = c.template_id
    WHERE c.upstream_cid = :upstream_cid AND c.template_id > :above_id AND c.item IS NOT NULL
      AND (t.template_id IS NULL OR t.origin = 'assigned')
      AND NOT EXISTS (SELECT 1 FROM bonus_intents i
                       WHERE i.upstream_cid = c.upstream_cid AND i.kind = 'create'
                         AND i.template_id = c.template_id)
    ORDER BY c.template_id`,
  (row): Candidate => ({
    templateId: row.text('template_id'),
    item: row.text('item'),
    assignedTo: row.textOrNull('operator_id'),
  }),
);

const READ_AGAIN = statement(
  'bonus-walk-look-again',
  named({
    id: 'bigint',
    delay_ms: 'float8',
    is_ambiguous: 'bool',
    look_at: 'timestamptz',
  }),
  `UPDATE bonus_intents
      SET passes = passes + 1, ambiguous = :is_ambiguous,
          look_at = CASE WHEN look_at = :look_at
                         THEN clock_timestamp() + make_interval(secs => :delay_ms / 1000)
                         ELSE look_at END
    WHERE id = :id AND state = 'open'`,
  noRow,
);
