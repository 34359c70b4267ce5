/** What must never happen, by the promise that it breaks. */
export type FindingKind =
  /** Service and wallet disagree about a bet, and the gateway does not report it. */
  | 'books'
  /** A player's balance is not the opening balance plus what the bets moved. */
  | 'money'
  /** The gateway's own books disagree with the wallet, or its checker found something. */
  | 'statement'
  | 'placedTwice'
  /** Two money operations of one bet were at the wallet at the same time. */
  | 'overlap'
  | 'contradiction'
  /** A repeat of the same operation got a different answer. */
  | 'otherAnswer'
  | 'unexpectedRefusal'
  | 'conflictAccepted'
  /** The service never got a definite answer, however often it asked. */
  | 'neverAnswered'
  | 'serverError'
  | 'undelivered'
  | 'crash';

export interface Finding {
  readonly kind: FindingKind;
  /** Plan id of the bet; undefined if the finding is about no single bet. */
  readonly bet: string | undefined;
  readonly text: string;
}
