/**
 * Error codes of callbacks and of the operator API (service protocol, Errors; Error codes; docs/reference.md, Callbacks
 * and Operator API). Only the number matters; messages are free.
 */
export const CODES = {
  /** The signature is missing, malformed or wrong. */
  badSignature: 1,
  /** Operator API: it does not exist, or it is another operator's. */
  notFound: 2,
  /** The token is unknown or revoked, or not of this player and currency: the user logs in again. */
  invalidToken: 3,
  /** The token has expired: the user logs in again. */
  expiredToken: 4,
  /** The request is not what the protocol allows. */
  validation: 5,
  notEnoughMoney: 7,
  /** Place: already known. Rollback: already done, which counts as success. */
  alreadyProcessed: 8,
  /** Place: the user is blocked. Operator API: the operator or a feature is. */
  blocked: 9,
  /** Place: a timeout behind the wallet. Operator API: too many requests. */
  timeout: 10,
  stakeLimit: 11,
  lossLimit: 12,
  betCountLimit: 13,
  selfExcluded: 14,
  notVerified: 15,
  underAge: 16,
  /** Settle: the wallet's rules forbid changing a result. */
  recalculationBlocked: 20,
  /** Settle: the balance is too low for what a changed result takes back. */
  recalculationUnaffordable: 21,
  /** System error: the outcome is unknown. After it, the service rolls a place back. */
  system: 100,
} as const;

export type KnownCode = (typeof CODES)[keyof typeof CODES];

/** Codes of a place that leave open whether the wallet debited (docs/reference.md, Callbacks). */
export const OPEN_PLACE_CODES: readonly number[] = [
  CODES.alreadyProcessed,
  CODES.timeout,
  CODES.system,
];

/** The greatest code that the journal can store; the protocol's have three digits. */
const CODE_MAX = 2_147_483_647;

/** A number beyond `CODE_MAX` is no code: its answer could not be recorded. */
export function isCode(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= CODE_MAX;
}

/** `errorCode` of a rollback (service protocol, Events). */
export const ROLLBACK_REASONS = {
  oddsChanged: 8,
  eventCompleted: 9,
  /** Also sent by the gateway when it rolls back a place whose rollback never came. */
  partnerTimeout: 10,
  eventWithdrawn: 32,
  closingFailed: 50,
  partnerFailed: 52,
  outcomeStakeLimit: 110,
  outcomeWinLimit: 111,
  eventBetCountLimit: 112,
  playerStakeLimit: 113,
  playerWinLimit: 114,
  mainLimit: 115,
} as const;
