import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../database.ts';
import { named } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';

/** How often one process deletes expired nonces. */
const CLEAR_EVERY_MS = 60_000;

const NONCE_USES = ['first', 'known', 'tooLate'] as const;

/** `tooLate`: the time until which it had to be remembered is over. */
export type NonceUse = (typeof NONCE_USES)[number];

/** The nonces that operators have used, in PostgreSQL, so that all replicas share them (I5). */
export class Nonces {
  readonly #database: Database;
  readonly #clock: Clock;
  #clearedAtMs: number;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.#clearedAtMs = clock.monotonicMs();
  }

  /**
   * Remembers a nonce until `until` by PostgreSQL's clock only, however wrong a process's clock is.
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async use(operatorId: string, nonceHash: Buffer, until: Date): Promise<NonceUse> {
    // First, because if it fails the request is refused, and its repeat must be able to use the nonce.
    await this.#clear();
    const [use] = await this.#database.run(REMEMBER, { operatorId, nonceHash, until });
    return use ?? 'known';
  }

  async #clear(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#clearedAtMs < CLEAR_EVERY_MS) return;
    this.#clearedAtMs = nowMs;
    await this.#database.run(CLEAR, {});
  }
}

/** An expired nonce that is not deleted yet counts as deleted. */
const REMEMBER = statement(
  'nonce-remember',
  named({ operator_id: 'text', nonce_hash: 'bytea', until: 'timestamptz' }),
  `
  WITH made AS (
    INSERT INTO operator_nonces AS known (operator_id, nonce_hash, expires_at)
    SELECT :operator_id, :nonce_hash, :until WHERE :until > clock_timestamp()
    ON CONFLICT (operator_id, nonce_hash) DO UPDATE SET expires_at = excluded.expires_at
     WHERE known.expires_at <= clock_timestamp()
    RETURNING 1
  )
  SELECT CASE WHEN EXISTS (SELECT FROM made) THEN 'first'
              WHEN :until > clock_timestamp() THEN 'known'
              ELSE 'tooLate' END AS use`,
  (row) => row.oneOf('use', NONCE_USES),
);

/** Limited: a flood of nonces an hour ago must not delay the request that deletes them. */
const CLEAR = statement(
  'nonce-clear',
  {},
  `
  DELETE FROM operator_nonces WHERE (operator_id, nonce_hash) IN (
    SELECT operator_id, nonce_hash FROM operator_nonces
     WHERE expires_at <= clock_timestamp() LIMIT 20000 FOR UPDATE SKIP LOCKED)`,
  noRow,
);
