import type { Database } from '../database.ts';
import { named } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';

/** The next page of a partner account's templates, claimed by this process. */
export interface ClaimedPage {
  readonly upstreamCid: string;
  readonly page: number;
  /** Until when it is this process's alone, as PostgreSQL's text: no other claim of it has the same. */
  readonly leaseUntil: string;
}

export interface WalkedAccounts {
  readonly cids: readonly string[];
  /** Accounts whose copies are kept fresh if an operator owns any of their templates. */
  readonly kept: readonly string[];
  /** Accounts with shared templates. */
  readonly shared: readonly string[];
}

/**
 * The slow reading of a partner account's templates, page by page. Its position is in PostgreSQL, so that all
 * replicas act as one reader; a process that lost its claim changes nothing. Throws GatewayError.
 */
export class BonusWalks {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Claims a page that is due: a walk is under way, an open create needs one, or the copies are old. */
  async claim(
    accounts: WalkedAccounts,
    options: { readonly everyMs: number; readonly leaseMs: number },
  ): Promise<ClaimedPage | undefined> {
    await this.#database.run(INTRODUCE, accounts);
    const [page] = await this.#database.run(CLAIM, { ...accounts, ...options });
    return page;
  }

  async advance(claimed: ClaimedPage, nextPage: number): Promise<void> {
    await this.#database.run(ADVANCE, { ...claimed, nextPage });
  }

  /** The page could not be read, and is tried again. @param page the same, or the first, which restarts the walk */
  async postpone(claimed: ClaimedPage, page: number, delayMs: number): Promise<void> {
    await this.#database.run(POSTPONE, { ...claimed, nextPage: page, delayMs });
  }

  /** The last page is read. */
  async complete(claimed: ClaimedPage): Promise<void> {
    await this.#database.run(COMPLETE, claimed);
  }
}

const INTRODUCE = statement(
  'bonus-walk-introduce',
  named({ cids: 'text[]' }),
  `INSERT INTO bonus_walks (upstream_cid, lease_until)
   SELECT cid, '-infinity' FROM unnest(:cids) AS cid
    WHERE NOT EXISTS (SELECT 1 FROM bonus_walks w WHERE w.upstream_cid = cid)
    ORDER BY cid
   ON CONFLICT DO NOTHING`,
  noRow,
);

// The first page starts the walk; claiming it again after a crash restarts the walk.
const CLAIM = statement(
  'bonus-walk-claim',
  named({
    cids: 'text[]',
    every_ms: 'float8',
    lease_ms: 'float8',
    kept: 'text[]',
    shared: 'text[]',
  }),
  `
  UPDATE bonus_walks
     SET lease_until = clock_timestamp() + make_interval(secs => :lease_ms / 1000),
         started_at = CASE WHEN next_page = 1 THEN clock_timestamp() ELSE started_at END
   WHERE upstream_cid = (
     SELECT w.upstream_cid FROM bonus_walks w
      WHERE w.upstream_cid = ANY (:cids) AND w.lease_until <= clock_timestamp()
        AND (w.next_page > 1
             OR ((w.completed_at IS NULL
                  OR w.completed_at <= clock_timestamp() - make_interval(secs => :every_ms / 1000))
                 AND w.upstream_cid = ANY (:kept)
                 AND (w.upstream_cid = ANY (:shared)
                      OR EXISTS (SELECT 1 FROM bonus_templates t
                                  WHERE t.upstream_cid = w.upstream_cid)))
             OR EXISTS (SELECT 1 FROM bonus_intents i
                         WHERE i.upstream_cid = w.upstream_cid AND i.state = 'open'
                           AND i.kind = 'create' AND i.look_at <= clock_timestamp()))
      ORDER BY w.lease_until LIMIT 1 FOR UPDATE SKIP LOCKED)
  RETURNING upstream_cid, next_page, lease_until::text AS lease_until`,
  (row): ClaimedPage => ({
    upstreamCid: row.text('upstream_cid'),
    page: row.int('next_page'),
    leaseUntil: row.text('lease_until'),
  }),
);

const CLAIMED = { upstream_cid: 'text', lease_until: 'timestamptz' } as const;
const IS_CLAIMED = 'upstream_cid = :upstream_cid AND lease_until = :lease_until';

const ADVANCE = statement(
  'bonus-walk-advance',
  named({ ...CLAIMED, next_page: 'int' }),
  `UPDATE bonus_walks SET next_page = :next_page, lease_until = clock_timestamp()
    WHERE ${IS_CLAIMED}`,
  noRow,
);

const POSTPONE = statement(
  'bonus-walk-postpone',
  named({ ...CLAIMED, next_page: 'int', delay_ms: 'float8' }),
  `UPDATE bonus_walks
      SET next_page = :next_page,
          lease_until = clock_timestamp() + make_interval(secs => :delay_ms / 1000)
    WHERE ${IS_CLAIMED}`,
  noRow,
);

const COMPLETE = statement(
  'bonus-walk-complete',
  named(CLAIMED),
  `UPDATE bonus_walks
      SET next_page = 1, completed_at = clock_timestamp(), lease_until = clock_timestamp()
    WHERE ${IS_CLAIMED}`,
  noRow,
);
