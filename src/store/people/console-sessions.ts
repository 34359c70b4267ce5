import { PERSON_ROLES, type PersonRole } from '../../domain/caller.ts';
import type { Database } from '../database.ts';
import { named } from '../sql/named.ts';
import { type Columns, noRow, statement } from '../sql/statement.ts';

/** Somebody who is signed in. */
export interface SignedIn {
  readonly actor: string;
  readonly role: PersonRole;
  readonly by: 'issuer' | 'link';
  readonly expiresAt: Date;
}

/** How long a session lasts, in milliseconds. */
export interface SessionLimits {
  /** Without a request that counts as activity. */
  readonly idleMs: number;
  /** At most, whatever the activity. */
  readonly absoluteMs: number;
}

interface NewSession {
  readonly idHash: Buffer;
  readonly address: string;
}

/** The console's sessions and sign-in links, by PostgreSQL's clock. Every method throws GatewayError. */
export class ConsoleSessions {
  readonly #database: Database;
  readonly #limits: SessionLimits;

  constructor(database: Database, limits: SessionLimits) {
    this.#database = database;
    this.#limits = limits;
  }

  /** Opens a session for a person identified by the issuer. */
  async open(session: NewSession, who: Pick<SignedIn, 'actor' | 'role'>): Promise<void> {
    await this.#database.run(OPEN, { ...session, ...who, ...this.#limits });
    await this.#clear();
  }

  /** @param lastsMs how long the link is valid unless it is used */
  async makeLink(
    tokenHash: Buffer,
    who: Pick<SignedIn, 'actor' | 'role'>,
    lastsMs: number,
  ): Promise<Date> {
    const [expiresAt] = await this.#database.run(MAKE_LINK, { tokenHash, ...who, lastsMs });
    if (expiresAt === undefined) throw new Error('a link that was written has an end');
    await this.#clear();
    return expiresAt;
  }

  /** Opens a session with a link, which is invalid from then on: only one caller gets it. */
  async openByLink(tokenHash: Buffer, session: NewSession): Promise<SignedIn | undefined> {
    const input = { tokenHash, ...session, ...this.#limits };
    const [signedIn] = await this.#database.run(OPEN_BY_LINK, input);
    return signedIn;
  }

  /** @param isActivity whether a person uses the session at this moment, which extends it */
  async find(idHash: Buffer, isActivity: boolean): Promise<SignedIn | undefined> {
    const { idleMs } = this.#limits;
    const [signedIn] = await this.#database.run(FIND, { idHash, isActivity, idleMs });
    return signedIn;
  }

  /** Takes effect at every replica once it resolves. */
  async close(idHash: Buffer): Promise<void> {
    await this.#database.run(CLOSE, { idHash });
  }

  async #clear(): Promise<void> {
    await this.#database.run(CLEAR_SESSIONS, { idleMs: this.#limits.idleMs });
    await this.#database.run(CLEAR_LINKS, {});
  }
}

const NEW = { id_hash: 'bytea', address: 'text', absolute_ms: 'float8' } as const;
const WHO = { actor: 'text', role: 'text' } as const;

/** Part of the statement that opens the session: nobody is signed in without a row in the audit (I12). */
const AUDITED_OPENING = `
  INSERT INTO audit (action, actor, role, address, subject, after)
  SELECT 'person.signed_in', actor, role, address, actor, jsonb_build_object('by', signed_in_by)
    FROM opened`;

const OPEN = statement(
  'console-session-open',
  named({ ...NEW, ...WHO }),
  `
  WITH opened AS (
    INSERT INTO console_sessions
      (id_hash, actor, role, signed_in_by, address, created_at, seen_at, expires_at)
    VALUES (:id_hash, :actor, :role, 'issuer', :address, clock_timestamp(), clock_timestamp(),
      clock_timestamp() + make_interval(secs => :absolute_ms / 1000))
    RETURNING actor, role, address, signed_in_by
  )
  ${AUDITED_OPENING}`,
  noRow,
);

const MAKE_LINK = statement(
  'console-link-make',
  named({ ...WHO, token_hash: 'bytea', lasts_ms: 'float8' }),
  `
  INSERT INTO console_links (token_hash, actor, role, expires_at)
  VALUES (:token_hash, :actor, :role,
    clock_timestamp() + make_interval(secs => :lasts_ms / 1000))
  RETURNING expires_at`,
  (row) => row.date('expires_at'),
);

/** Deleting the row gives the right to sign in: a second caller waits for the row lock and finds none. */
const OPEN_BY_LINK = statement(
  'console-session-open-by-link',
  named({ ...NEW, token_hash: 'bytea' }),
  `
  WITH used AS (
    DELETE FROM console_links
     WHERE token_hash = :token_hash AND expires_at > clock_timestamp()
    RETURNING actor, role
  ), opened AS (
    INSERT INTO console_sessions
      (id_hash, actor, role, signed_in_by, address, created_at, seen_at, expires_at)
    SELECT :id_hash, actor, role, 'link', :address, clock_timestamp(), clock_timestamp(),
           clock_timestamp() + make_interval(secs => :absolute_ms / 1000)
      FROM used
    RETURNING actor, role, address, signed_in_by, expires_at
  ), audited AS (
    ${AUDITED_OPENING}
  )
  SELECT actor, role, signed_in_by, expires_at FROM opened`,
  signedInOf,
);

/** Updates the row at most once a minute: a page that asks every second must not write every second. */
const FIND = statement(
  'console-session-find',
  named({ id_hash: 'bytea', is_activity: 'bool', idle_ms: 'float8' }),
  `
  WITH live AS (
    SELECT id_hash, actor, role, signed_in_by, expires_at, seen_at
      FROM console_sessions
     WHERE id_hash = :id_hash AND expires_at > clock_timestamp()
       AND seen_at > clock_timestamp() - make_interval(secs => :idle_ms / 1000)
  ), touched AS (
    UPDATE console_sessions s SET seen_at = clock_timestamp()
      FROM live
     WHERE s.id_hash = live.id_hash AND :is_activity
       AND live.seen_at < clock_timestamp() - least(interval '1 minute',
             make_interval(secs => :idle_ms / 10000))
  )
  SELECT actor, role, signed_in_by, expires_at FROM live`,
  signedInOf,
);

const CLOSE = statement(
  'console-session-close',
  named({ id_hash: 'bytea' }),
  'DELETE FROM console_sessions WHERE id_hash = :id_hash',
  noRow,
);

const CLEAR_SESSIONS = statement(
  'console-sessions-clear',
  named({ idle_ms: 'float8' }),
  `
  DELETE FROM console_sessions
   WHERE expires_at < clock_timestamp()
      OR seen_at < clock_timestamp() - make_interval(secs => :idle_ms / 1000)`,
  noRow,
);

const CLEAR_LINKS = statement(
  'console-links-clear',
  {},
  'DELETE FROM console_links WHERE expires_at < clock_timestamp()',
  noRow,
);

function signedInOf(row: Columns): SignedIn {
  return {
    actor: row.text('actor'),
    role: row.oneOf('role', PERSON_ROLES),
    by: row.oneOf('signed_in_by', ['issuer', 'link']),
    expiresAt: row.date('expires_at'),
  };
}
