/** What an answer may take that waits for nothing and nobody, on a busy machine. */
export const AT_ONCE_MS = 1_000;

/**
 * How late a busy machine may make an answer that is due at a deadline: less than anything but the
 * deadline would take to end it (a wallet's own timeout, PostgreSQL's, the service's: 4 s and more).
 */
export const BUSY_MS = 1_000;

/** How long to wait for what an idle machine does at once. `expect.poll` waits as long. */
export const PATIENT_MS = 15_000;
