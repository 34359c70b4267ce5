/** Longer than any deadline (5 s at most) plus a slow commit: only then may another process take it for unknown. */
export const LEASE_SECONDS = 15;
export const LEASE_MS = LEASE_SECONDS * 1_000;

/** SQL: the end of a lease that begins now. */
export const LEASE_END = `clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
