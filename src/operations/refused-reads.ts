import type { Clock } from '../domain/clock.ts';
import { recentMap } from '../lib/recent.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Wallets } from '../wallets/wallets.ts';
import type { Handled } from './answers.ts';
import { unavailable } from './answers.ts';

/** Frames poll faster when refused. Beyond this, per second, operator and process, refusals need no query (I7). */
const REFUSALS_MAX = { perSecond: 100, burst: 200 };

const TOKENS_MAX = 10_000;

/**
 * Reads of operators that take no calls: beyond the limit they are refused without reading the session, so an ended one
 * gets 503. Never places: a refused one has to be in the journal for its copies and its rollback (docs/reference.md,
 * Callbacks).
 */
export class RefusedReads {
  readonly #wallets: Wallets;
  readonly #metrics: Metrics;
  readonly #limits: TokenBuckets;
  /** Operators of recently refused tokens. */
  readonly #operators = recentMap<string>(TOKENS_MAX);

  constructor(options: { clock: Clock; wallets: Wallets; metrics: Metrics }) {
    this.#wallets = options.wallets;
    this.#metrics = options.metrics;
    this.#limits = new TokenBuckets(options.clock, REFUSALS_MAX);
  }

  /** The answer beyond the limit; undefined: handle the read as usual. */
  limit(operation: 'profile' | 'balance', token: string): Handled | undefined {
    const operatorId = this.#operators.get(token);
    if (operatorId === undefined) return undefined;
    if (this.#takesCalls(operatorId, operation)) {
      this.#operators.delete(token);
      return undefined;
    }
    if (this.#limits.take(operatorId) === 0) return undefined;
    const reason = 'rate';
    this.#metrics.rejected.inc({ operator: operatorId, reason });
    return unavailable('not_sent', operatorId, { reason });
  }

  /** Remembers the token's operator if its next read would be refused. */
  note(operation: 'profile' | 'balance', token: string, operatorId: string): void {
    if (!this.#takesCalls(operatorId, operation)) this.#operators.set(token, operatorId);
  }

  #takesCalls(operatorId: string, operation: 'profile' | 'balance'): boolean {
    const wallet = this.#wallets.get(operatorId);
    return wallet !== undefined && wallet.refusal(operation) === undefined;
  }
}
