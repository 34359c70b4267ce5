import { CALL_CLASSES, type CallClass } from '../domain/operation.ts';
import type { BreakerOverride } from '../outbound/breaker-settings.ts';
import type { Database, Statement } from '../store/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Wallets } from '../wallets/wallets.ts';

/** How soon an override set at one process reaches all the others. */
const POLL_MS = 1_000;

const READ: Statement = {
  name: 'breaker-overrides',
  text: 'SELECT operator_id AS "operatorId", class AS "callClass", state FROM breaker_overrides',
};

const WRITE: Statement = {
  name: 'breaker-override-write',
  text: `
  INSERT INTO breaker_overrides (operator_id, class, state, updated_at)
  VALUES ($1, $2, $3, clock_timestamp())
  ON CONFLICT (operator_id, class) DO UPDATE
     SET state = excluded.state, updated_at = excluded.updated_at`,
};

const REMOVE: Statement = {
  name: 'breaker-override-remove',
  text: 'DELETE FROM breaker_overrides WHERE operator_id = $1 AND class = $2',
};

interface Override {
  readonly operatorId: string;
  readonly callClass: CallClass;
  readonly state: 'closed' | 'open';
}

export interface BreakerOverridesOptions {
  readonly database: Database;
  readonly wallets: Pick<Wallets, 'setOverride'>;
  readonly logger: Logger;
}

/**
 * What people decided over breakers, kept in PostgreSQL so that it reaches every process and
 * survives restarts: each process polls every second and applies what has changed to its wallets. While
 * PostgreSQL is away what was known last stays in force.
 */
export class BreakerOverrides {
  readonly #options: BreakerOverridesOptions;
  #inForce: ReadonlyMap<string, Override> = new Map();
  /** Counts the overrides set here: a read that began before one does not contain it. */
  #changes = 0;
  #timer: NodeJS.Timeout | undefined;
  #failing = false;
  #closed = false;

  constructor(options: BreakerOverridesOptions) {
    this.#options = options;
  }

  /** What holds here for an operator's breaker. */
  get(operatorId: string, callClass: CallClass): BreakerOverride {
    return this.#inForce.get(keyOf(operatorId, callClass))?.state ?? 'auto';
  }

  /**
   * Holds here when this resolves, and elsewhere within a second or two.
   * @throws GatewayError `DATABASE_UNAVAILABLE`; nothing is changed here, elsewhere it may be
   */
  async set(operatorId: string, callClass: CallClass, to: BreakerOverride): Promise<void> {
    const { database } = this.#options;
    if (to === 'auto') await database.query(REMOVE, [operatorId, callClass]);
    else await database.query(WRITE, [operatorId, callClass, to]);
    this.#changes += 1;
    const next = new Map(this.#inForce);
    if (to === 'auto') next.delete(keyOf(operatorId, callClass));
    else next.set(keyOf(operatorId, callClass), { operatorId, callClass, state: to });
    this.#apply(next);
  }

  /** Resolves after the first poll, whether it succeeded or not; polls on until `close`. */
  async start(): Promise<void> {
    await this.#poll();
    if (this.#closed) return;
    this.#timer = setTimeout(() => void this.start(), POLL_MS).unref();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #poll(): Promise<void> {
    const changesBefore = this.#changes;
    try {
      const rows = await this.#options.database.query<Record<string, string>>(READ, []);
      if (this.#changes === changesBefore && !this.#closed) this.#apply(overridesOf(rows));
      if (this.#failing) this.#options.logger.info('breaker_overrides.read_again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing && !this.#closed) {
        this.#options.logger.warn({ err: error }, 'breaker_overrides.not_read');
      }
      this.#failing = true;
    }
  }

  #apply(next: ReadonlyMap<string, Override>): void {
    const before = this.#inForce;
    this.#inForce = next;
    for (const [key, { operatorId, callClass, state }] of next) {
      if (before.get(key)?.state !== state) this.#notify(operatorId, callClass, state);
    }
    for (const [key, { operatorId, callClass }] of before) {
      if (!next.has(key)) this.#notify(operatorId, callClass, 'auto');
    }
  }

  #notify(operatorId: string, callClass: CallClass, to: BreakerOverride): void {
    this.#options.logger.warn(
      { operator: operatorId, class: callClass, state: to },
      'breaker_overrides.changed',
    );
    this.#options.wallets.setOverride(operatorId, callClass, to);
  }
}

/** Rows are written here and by hand: one that means nothing is passed over. */
function overridesOf(
  rows: readonly Readonly<Record<string, string>>[],
): ReadonlyMap<string, Override> {
  const overrides = new Map<string, Override>();
  for (const { operatorId, callClass: stored, state } of rows) {
    const callClass = CALL_CLASSES.find((known) => known === stored);
    if (operatorId === undefined || callClass === undefined) continue;
    if (state !== 'closed' && state !== 'open') continue;
    overrides.set(keyOf(operatorId, callClass), { operatorId, callClass, state });
  }
  return overrides;
}

function keyOf(operatorId: string, callClass: CallClass): string {
  return `${operatorId}/${callClass}`;
}
