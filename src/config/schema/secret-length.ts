/** Minimum length, in characters, of secrets that we choose: `api.secrets`, `ADMIN_TOKEN`. */
export const OWN_SECRET_LENGTH_MIN = 32;
/** Minimum length of secrets agreed with others (the service, wallets), who may have chosen them long ago. */
export const AGREED_SECRET_LENGTH_MIN = 16;
/** An agreed secret shorter than this is accepted with a warning. */
export const AGREED_SECRET_LENGTH_GOOD = 32;
