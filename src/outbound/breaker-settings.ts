export type BreakerState = 'closed' | 'half_open' | 'open';

/** `auto` leaves the breaker to itself again. */
export type BreakerOverride = 'closed' | 'open' | 'auto';

/** What a breaker has found out by calls of its own. `reopened`: its probe failed. */
export type BreakerVerdict = 'opened' | 'reopened' | 'closed';

/** What another process's breaker of the same wallet and class has found out. */
export type BreakerHearsay = 'open' | 'closed';

/** One breaker per class is built from these. */
export interface BreakerSettings {
  readonly errorPercent: number;
  readonly minRequests: number;
  readonly windowMs: number;
  readonly openMs: number;
}
