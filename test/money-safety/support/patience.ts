/**
 * For everything that a loaded machine has to do meanwhile: it affects how long tests wait, never what they assert.
 */
export const PATIENCE = { timeout: 25_000, interval: 25 } as const;

/** An operator whose breaker stays closed, however often a test lets its wallet fail. */
export const PATIENT = { wallet: { breaker: { minRequests: 100_000 } } } as const;

/** An operator whose settles become deliveries if its wallet does not accept them. */
export const QUEUEING = { ...PATIENT, settle: { onFailure: 'queue' } } as const;

/** Deliveries that are retried at once. */
export const QUICK = { delivery: { minBackoffMs: 50, maxBackoffMs: 100 } } as const;
