import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../database.ts';
import { noRow, type Parameters, statement } from '../statement.ts';

/** Between two clearings of what has expired, by one process. */
const CLEAR_EVERY_MS = 60_000;

/** The nonces that operators have used; in PostgreSQL, so that all replicas know them (I5). */
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
   * Remembers a nonce for `keptMs`.
   * @returns whether it was not there already
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async isFirst(operatorId: string, nonceHash: Buffer, keptMs: number): Promise<boolean> {
    // First: where it fails, the request is refused and its nonce must be good for its repeat.
    await this.#clear();
    const made = await this.#database.run(REMEMBER, { operatorId, nonceHash, keptMs });
    return made.length === 1;
  }

  async #clear(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#clearedAtMs < CLEAR_EVERY_MS) return;
    this.#clearedAtMs = nowMs;
    await this.#database.run(CLEAR, {});
  }
}

interface UsedNonce {
  readonly operatorId: string;
  readonly nonceHash: Buffer;
  readonly keptMs: number;
}

/** One that has expired and was not cleared yet counts as gone. */
const REMEMBER = statement(
  'nonce-remember',
  {
    operator_id: ['text', ({ operatorId }) => operatorId],
    nonce_hash: ['bytea', ({ nonceHash }) => nonceHash],
    kept_ms: ['float8', ({ keptMs }) => keptMs],
  } satisfies Parameters<UsedNonce>,
  `
  INSERT INTO operator_nonces AS known (operator_id, nonce_hash, expires_at)
  VALUES (:operator_id, :nonce_hash, clock_timestamp() + make_interval(secs => :kept_ms / 1000))
  ON CONFLICT (operator_id, nonce_hash) DO UPDATE SET expires_at = excluded.expires_at
   WHERE known.expires_at <= clock_timestamp()
  RETURNING operator_id`,
  noRow,
);

/** In slices: one operator's flood of an hour ago must not hold up the request that clears it. */
const CLEAR = statement(
  'nonce-clear',
  {},
  `
  DELETE FROM operator_nonces WHERE (operator_id, nonce_hash) IN (
    SELECT operator_id, nonce_hash FROM operator_nonces
     WHERE expires_at <= clock_timestamp() LIMIT 20000 FOR UPDATE SKIP LOCKED)`,
  noRow,
);
