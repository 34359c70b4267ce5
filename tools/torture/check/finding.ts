/** What must never be seen, by the promise that is broken. */
export type FindingKind =
  /** Service and wallet hold different things of a bet, and the gateway does not say so itself. */
  | 'books'
  /** A player's money is not the opening balance and what the bets moved. */
  | 'money'
  /** The gateway's own books say otherwise than the wallet, or its checker found something. */
  | 'statement'
  | 'placedTwice'
  /** Two money operations of one bet at the wallet at once. */
  | 'overlap'
  | 'contradiction'
  /** The same operation answered again, but otherwise than the first time. */
  | 'otherAnswer'
  | 'unexpectedRefusal'
  | 'conflictAccepted'
  /** A place was not sent although nothing at all was wrong with the wallet. */
  | 'needlessRefusal'
  /** No definite answer, however often the service asked. */
  | 'neverAnswered'
  /** An answer that had to wait for a lease although no process was lost. */
  | 'blocked'
  | 'lateAnswer'
  | 'droppedCall'
  | 'serverError'
  | 'undelivered'
  /** A wallet got what a person held, or what was meant for the wallet before it. */
  | 'notHeld'
  /** What a rotation of secrets took away is still in use. */
  | 'oldSecret'
  | 'crash';

export interface Finding {
  readonly kind: FindingKind;
  /** Plan id of the bet; undefined: about none. */
  readonly bet: string | undefined;
  readonly text: string;
}

/** Kinds that a loaded machine can bring about by itself: only what comes again counts. */
export const MAY_BE_LOAD: ReadonlySet<FindingKind> = new Set([
  'lateAnswer',
  'droppedCall',
  'neverAnswered',
  'undelivered',
  'needlessRefusal',
  'blocked',
]);
