/**
 * Why a call certainly never left the gateway (docs/reference.md, Metrics, `reason`; plus refused
 * connects).
 */
export type NotSentReason =
  | 'breaker'
  | 'bulkhead'
  | 'deadline'
  | 'maintenance'
  | 'suspended'
  | 'rate'
  | 'database'
  | 'connection';

/** How a call that may have reached the wallet failed to bring a valid answer. */
export type WalletFault = 'timeout' | 'connection' | 'http_error' | 'bad_answer';

/** The first bytes of what a wallet sent, kept for people; without tokens, secrets and signatures. */
export interface WalletEvidence {
  readonly contentType: string | undefined;
  readonly body: Buffer;
  /** There was more, or it broke off. */
  readonly truncated: boolean;
}

/** What is known of one attempt at the wallet, for journals and logs; never shown to the service. */
export interface WalletTrace {
  /** Whether a byte may have left towards the wallet. */
  readonly sent: boolean;
  /** Milliseconds from handing the call over until its outcome. */
  readonly latencyMs: number;
  /** The wallet's HTTP status, where one came. */
  readonly status?: number;
  /** The wallet's error code, where one came. */
  readonly code?: number;
  /** What went wrong, in words for people. */
  readonly error?: string;
  /** This process had no socket or memory for the call, or could not make it: nothing is said about the wallet. */
  readonly isOwnShortage?: true;
  /** What came answers another call: the answers on this connection have got mixed up. */
  readonly isOfOtherCall?: true;
  /** What the wallet sent, where anything came and is to be kept. */
  readonly evidence?: WalletEvidence;
}

/**
 * A wallet's answer to a bet call, as a value (I2): `declined` only by the wallet's own definite
 * answer, `notSent` only where no byte left, and everything in between `unknown`.
 */
export type BetAnswer =
  | { readonly kind: 'accepted'; readonly transactionTime: string; readonly trace: WalletTrace }
  | {
      readonly kind: 'declined';
      readonly code: number;
      readonly message: string;
      readonly trace: WalletTrace;
    }
  | { readonly kind: 'notSent'; readonly reason: NotSentReason; readonly trace: WalletTrace }
  | { readonly kind: 'unknown'; readonly fault: WalletFault; readonly trace: WalletTrace };

/** How a profile or balance call ends without the wallet's data. */
export type ReadFailure = Exclude<BetAnswer, { kind: 'accepted' }>;

/** The answer for a call that was decided against before there was anything to send. @param error in words for people */
export function notSent(
  reason: NotSentReason,
  error: string,
): Extract<BetAnswer, { kind: 'notSent' }> {
  return { kind: 'notSent', reason, trace: { sent: false, latencyMs: 0, error } };
}
