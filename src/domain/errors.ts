/** Codes are stable and may be matched on; messages are for people and may change. */
export type GatewayErrorCode =
  /** PostgreSQL refused, broke or did not answer in time; the outcome of the write is unknown. */
  | 'DATABASE_UNAVAILABLE'
  /** A stored token cannot be opened: its key is missing from `ENCRYPTION_KEY`, or it was changed. */
  | 'TOKEN_UNOPENABLE'
  /** A start condition does not hold: missing variable, pending migrations, unreachable server. */
  | 'CANNOT_START';

/** An operating error that one place answers and logs. Wallet answers are values, not errors. */
export class GatewayError extends Error {
  readonly code: GatewayErrorCode;

  constructor(code: GatewayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'GatewayError';
    this.code = code;
  }
}
