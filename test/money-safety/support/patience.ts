/** For whatever a loaded machine has to do meanwhile: how long is waited, never what is asserted. */
export const PATIENCE = { timeout: 25_000, interval: 25 } as const;

/** A wallet's operator whose breaker stays closed, however often a test makes its wallet fail. */
export const PATIENT = { wallet: { breaker: { minRequests: 100_000 } } } as const;

/** One whose settles become deliveries where its wallet does not take them. */
export const QUEUEING = { ...PATIENT, settle: { onFailure: 'queue' } } as const;

/** Deliveries that are tried again at once. */
export const QUICK = { delivery: { minBackoffMs: 50, maxBackoffMs: 100 } } as const;
