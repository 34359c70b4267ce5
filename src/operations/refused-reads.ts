import type { Clock } from '../domain/clock.ts';
import { recentMap } from '../lib/recent.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Wallets } from '../wallets/wallets.ts';
import type { Handled } from './answers.ts';
import { unavailable } from './answers.ts';

/**
 * Refusals are immediate, so a frame that polls in a loop polls even faster. Beyond this many per
 * second and operator, in one process, they cost neither Redis nor PostgreSQL a query (I7).
 */
const REFUSALS_MAX = { perSecond: 100, burst: 200 };

const TOKENS_MAX = 10_000;

/**
 * Profiles and balances of operators that take no calls (breaker open, bulkhead full, maintenance,
 * suspended). Beyond the limit they are refused without looking up their session, so that a session that has
 * ended meanwhile is answered 503 too until the flood is over. Reads only: they have no
 * consequences, while a refused place has to be in the journal, which answers its copies
 * and its rollback (docs/reference.md, Callbacks).
 */
export class RefusedReads {
  readonly #wallets: Wallets;
  readonly #metrics: Metrics;
  readonly #limits: TokenBuckets;
  /** Recently refused tokens, with their operator. */
  readonly #operators = recentMap<string>(TOKENS_MAX);

  constructor(options: { clock: Clock; wallets: Wallets; metrics: Metrics }) {
    this.#wallets = options.wallets;
    this.#metrics = options.metrics;
    this.#limits = new TokenBuckets(options.clock, REFUSALS_MAX);
  }

  /** The answer beyond the limit; undefined if the read is to be handled as usual. */
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
