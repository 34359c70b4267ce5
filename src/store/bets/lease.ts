/**
 * An attempt owns its bet for this long on PostgreSQL's clock: longer than any deadline (5 s at
 * most) plus what a slow commit may add. Only afterwards may another process call it unknown.
 */
export const LEASE_SECONDS = 15;
export const LEASE_MS = LEASE_SECONDS * 1_000;

/** SQL: the end of a lease that begins now. */
export const LEASE_END = `clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
