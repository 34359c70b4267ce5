import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';

/** The next page of a partner account's templates is this process's to read. */
export interface ClaimedPage {
  readonly upstreamCid: string;
  readonly page: number;
}

/** A create that nobody knows the outcome of. */
export interface OpenCreate {
  readonly id: string;
  readonly operatorId: string;
  readonly body: string;
  /** The highest template id there was before the service was asked. */
  readonly aboveId: string;
  readonly passes: number;
  readonly ageMs: number;
  /** Whether the present walk began after its request had certainly ended: then it is a whole look. */
  readonly isDue: boolean;
  /** Whether a person has been asked for already. */
  readonly ambiguous: boolean;
  /** When it was to be looked at, as PostgreSQL says it. */
  readonly lookAt: string;
}

/** A template that an open create may have become. */
export interface Candidate {
  readonly templateId: string;
  readonly item: string;
  /** Set where a person has said whose it is. */
  readonly assignedTo: string | undefined;
}

/**
 * The slow reading of all templates of a partner account, page by page: it keeps the copies fresh
 * and finds what open creates have become. Its place in PostgreSQL makes one reader of all
 * replicas. Every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class BonusWalks {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Claims a page that is due: a walk goes on, an open create wants one, or the copies are old.
   * @param accounts only these are walked
   */
  async claim(
    accounts: {
      readonly cids: readonly string[];
      /** Those whose copies are kept fresh, if anything of theirs is owned. */
      readonly kept: readonly string[];
      /** Those of which templates are shared. */
      readonly shared: readonly string[];
    },
    options: { readonly everyMs: number; readonly leaseMs: number },
  ): Promise<ClaimedPage | undefined> {
    await this.#database.query(INTRODUCE, [accounts.cids]);
    const [row] = await this.#database.query<{ upstream_cid: string; next_page: number }>(CLAIM, [
      accounts.cids,
      options.everyMs,
      options.leaseMs,
      accounts.kept,
      accounts.shared,
    ]);
    return row && { upstreamCid: row.upstream_cid, page: row.next_page };
  }

  async advance(upstreamCid: string, nextPage: number): Promise<void> {
    await this.#database.query(ADVANCE, [upstreamCid, nextPage]);
  }

  /** The page could not be read: another try after a while, by whoever comes first. */
  async postpone(upstreamCid: string, delayMs: number): Promise<void> {
    await this.#database.query(POSTPONE, [upstreamCid, delayMs]);
  }

  /** The last page is read. */
  async complete(upstreamCid: string): Promise<void> {
    await this.#database.query(COMPLETE, [upstreamCid]);
  }

  /** All open creates, also those whose request may still be under way (`isDue` false). */
  async openCreates(upstreamCid: string): Promise<readonly OpenCreate[]> {
    return await this.#database.query<OpenCreate & Record<string, unknown>>(OPEN_CREATES, [
      upstreamCid,
    ]);
  }

  /** Templates the present walk has seen that no create has become and nobody owns. */
  async candidates(upstreamCid: string, aboveId: string): Promise<readonly Candidate[]> {
    const rows = await this.#database.query<{
      template_id: string;
      item: string;
      operator_id: string | null;
    }>(CANDIDATES, [upstreamCid, aboveId]);
    return rows.map((row) => ({
      templateId: row.template_id,
      item: row.item,
      assignedTo: row.operator_id ?? undefined,
    }));
  }

  /**
   * A whole look did not settle it: the next one after `delayMs`, or at once where a person has
   * assigned a template meanwhile.
   */
  async lookAgain(create: OpenCreate, delayMs: number, ambiguous: boolean): Promise<void> {
    await this.#database.query(LOOK_AGAIN, [create.id, delayMs, ambiguous, create.lookAt]);
  }
}

const INTRODUCE: Statement = {
  name: 'bonus-walk-introduce',
  text: `INSERT INTO bonus_walks (upstream_cid, lease_until)
         SELECT cid, '-infinity' FROM unnest($1::text[]) AS cid
          WHERE NOT EXISTS (SELECT 1 FROM bonus_walks w WHERE w.upstream_cid = cid)
          ORDER BY cid
         ON CONFLICT DO NOTHING`,
};

// The first page begins the walk; whoever claims it again after a crash begins it again.
const CLAIM: Statement = {
  name: 'bonus-walk-claim',
  text: `
  UPDATE bonus_walks
     SET lease_until = clock_timestamp() + make_interval(secs => $3::float8 / 1000),
         started_at = CASE WHEN next_page = 1 THEN clock_timestamp() ELSE started_at END
   WHERE upstream_cid = (
     SELECT w.upstream_cid FROM bonus_walks w
      WHERE w.upstream_cid = ANY ($1::text[]) AND w.lease_until <= clock_timestamp()
        AND (w.next_page > 1
             OR ((w.completed_at IS NULL
                  OR w.completed_at <= clock_timestamp() - make_interval(secs => $2::float8 / 1000))
                 AND w.upstream_cid = ANY ($4::text[])
                 AND (w.upstream_cid = ANY ($5::text[])
                      OR EXISTS (SELECT 1 FROM bonus_templates t
                                  WHERE t.upstream_cid = w.upstream_cid)))
             OR EXISTS (SELECT 1 FROM bonus_intents i
                         WHERE i.upstream_cid = w.upstream_cid AND i.state = 'open'
                           AND i.kind = 'create' AND i.look_at <= clock_timestamp()))
      ORDER BY w.lease_until LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING upstream_cid, next_page`,
};

const ADVANCE: Statement = {
  name: 'bonus-walk-advance',
  text: `UPDATE bonus_walks SET next_page = $2, lease_until = clock_timestamp()
          WHERE upstream_cid = $1`,
};

const POSTPONE: Statement = {
  name: 'bonus-walk-postpone',
  text: `UPDATE bonus_walks
            SET lease_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
          WHERE upstream_cid = $1`,
};

const COMPLETE: Statement = {
  name: 'bonus-walk-complete',
  text: `UPDATE bonus_walks
            SET next_page = 1, completed_at = clock_timestamp(), lease_until = clock_timestamp()
          WHERE upstream_cid = $1`,
};

const OPEN_CREATES: Statement = {
  name: 'bonus-walk-open-creates',
  text: `SELECT i.id, i.operator_id AS "operatorId", i.body, i.above_id AS "aboveId", i.passes,
                i.ambiguous, i.look_at::text AS "lookAt",
                (i.look_at <= w.started_at) AS "isDue",
                (EXTRACT(EPOCH FROM clock_timestamp() - i.created_at) * 1000)::float8 AS "ageMs"
           FROM bonus_intents i JOIN bonus_walks w ON w.upstream_cid = i.upstream_cid
          WHERE i.upstream_cid = $1 AND i.kind = 'create' AND i.state = 'open'
          ORDER BY i.id`,
};

const CANDIDATES: Statement = {
  name: 'bonus-walk-candidates',
  text: `SELECT c.template_id, c.item, t.operator_id
           FROM bonus_template_copies c
           JOIN bonus_walks w ON w.upstream_cid = c.upstream_cid AND c.seen_at >= w.started_at
           LEFT JOIN bonus_templates t
                  ON t.upstream_cid = c.upstream_cid AND t.template_id = c.template_id
          WHERE c.upstream_cid = $1 AND c.template_id > $2 AND c.item IS NOT NULL
            AND (t.template_id IS NULL OR t.origin = 'assigned')
            AND NOT EXISTS (SELECT 1 FROM bonus_intents i
                             WHERE i.upstream_cid = c.upstream_cid AND i.kind = 'create'
                               AND i.template_id = c.template_id)
          ORDER BY c.template_id`,
};

const LOOK_AGAIN: Statement = {
  name: 'bonus-walk-look-again',
  text: `UPDATE bonus_intents
            SET passes = passes + 1, ambiguous = $3,
                look_at = CASE WHEN look_at = $4::timestamptz
                               THEN clock_timestamp() + make_interval(secs => $2::float8 / 1000)
                               ELSE look_at END
          WHERE id = $1 AND state = 'open'`,
};
