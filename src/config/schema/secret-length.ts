/** Minimum length, in characters, of secrets that we choose: `api.secrets`, `ADMIN_TOKEN`. */
export const OWN_SECRET_LENGTH_MIN = 32;
/**
 * Minimum length of secrets agreed with others (the service, wallets), who may have chosen them long ago: that of the
 * service's published signature vectors has 8 characters.
 */
export const AGREED_SECRET_LENGTH_MIN = 8;
/** Whoever has one signed request may find an agreed secret that is shorter than this by trying. */
export const AGREED_SECRET_LENGTH_SAFE = 16;
/** An agreed secret shorter than this is accepted with a warning. */
export const AGREED_SECRET_LENGTH_GOOD = 32;
