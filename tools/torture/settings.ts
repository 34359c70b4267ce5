/** The configuration compresses what the protocol measures in seconds; only the lease stays. */
export const DEADLINE_MS = 1_000;
export const RESERVE_MS = 200;
export const WALLET_TIMEOUT_MS = 500;
/** The service hangs up after this: 5000 ms against the deadline's 4800, compressed. */
export const SERVICE_LIMIT_MS = 1_150;
export const CONFIRM_UNKNOWN_MS = 150;
export const SECOND_CONFIRMATION = 10;
export const ORIGINATE_AFTER_MS = 2_500;
/** How long an attempt may own its bet, on PostgreSQL's clock. */
export const LEASE_MS = 15_000;

/** "Up to 10 times over about 6 minutes", for rollbacks and updates. */
export const RETRIES_MAX = 10;
export const FIRST_RETRY_MS = 60;
export const RETRY_FACTOR = 1.9;
export const RETRY_MS_MAX = 4_000;

/** How late a wallet may execute a call: still before the second confirmation of its rollback. */
export const LATE_MS_MAX = Math.floor(CONFIRM_UNKNOWN_MS * SECOND_CONFIRMATION * 0.8);

/** The balance with which every player begins. */
export const OPENING_BALANCE = '1000000000';
export const CURRENCY = 'USD';
