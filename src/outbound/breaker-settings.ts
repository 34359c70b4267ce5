export type BreakerState = 'closed' | 'half_open' | 'open';

/** `auto`: no override. */
export type BreakerOverride = 'closed' | 'open' | 'auto';

/** One breaker per class is built from these. */
export interface BreakerSettings {
  readonly errorPercent: number;
  readonly minRequests: number;
  readonly windowMs: number;
  readonly openMs: number;
}
