export type BreakerState = 'closed' | 'half_open' | 'open';

/** `auto`: no override. */
export type BreakerOverride = 'closed' | 'open' | 'auto';

/** A verdict of a breaker by its own calls. `reopened`: its probe failed. */
export type BreakerVerdict = 'opened' | 'reopened' | 'closed';

/** The verdict of another process's breaker for the same wallet and class. */
export type BreakerHearsay = 'open' | 'closed';

/** One breaker per class is built from these. */
export interface BreakerSettings {
  readonly errorPercent: number;
  readonly minRequests: number;
  readonly windowMs: number;
  readonly openMs: number;
}
