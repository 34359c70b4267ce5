/** Characters of a secret that this side chooses: `api.secrets`, `ADMIN_TOKEN`. */
export const OWN_SECRET_LENGTH_MIN = 32;
/** Of one agreed with others (the service's, wallets'), which they may have chosen long ago. */
export const AGREED_SECRET_LENGTH_MIN = 16;
/** One agreed with others that is shorter than this is taken, with a warning. */
export const AGREED_SECRET_LENGTH_GOOD = 32;
