/** The longest that an answer may take on a busy machine if it waits for nothing; what waits takes 4 s and more. */
export const AT_ONCE_MS = 2_000;

/**
 * How late a busy machine may answer at a deadline: still earlier than anything else that would end the wait (the
 * timeouts of the wallet, PostgreSQL and the service: 4 s and more).
 */
export const BUSY_MS = 2_000;

/** How long to wait for what an idle machine does at once. `expect.poll` waits as long. */
export const PATIENT_MS = 15_000;
