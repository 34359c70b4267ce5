/** Why a call certainly never left the gateway (docs/reference.md, Metrics, `reason`; plus refused connects). */
export type NotSentReason =
  | 'breaker'
  | 'bulkhead'
  | 'deadline'
  | 'maintenance'
  | 'suspended'
  | 'rate'
  | 'database'
  | 'connection';

/** Why a call that may have reached the wallet has no valid answer. */
export type WalletFault = 'timeout' | 'connection' | 'http_error' | 'bad_answer';

/** The first bytes of the wallet's answer, kept for people; without tokens, secrets and signatures. */
export interface WalletEvidence {
  readonly contentType: string | undefined;
  readonly body: Buffer;
  /** There was more, or the answer broke off. */
  readonly truncated: boolean;
}

/** What is known of one wallet call, for journals and logs; never shown to the service. */
export interface WalletTrace {
  /** Whether a byte may have left for the wallet. */
  readonly sent: boolean;
  /** From handing the call over until its outcome. */
  readonly latencyMs: number;
  readonly status?: number;
  readonly code?: number;
  /** In words for people. */
  readonly error?: string;
  /** This process had no socket or memory for the call, or could not make it: it says nothing about the wallet. */
  readonly isOwnShortage?: true;
  /** The answer belongs to another call: the answers on this connection are mixed up. */
  readonly isOfOtherCall?: true;
  readonly evidence?: WalletEvidence;
}

/**
 * A wallet's answer to a bet call, as a value (I2): `declined` only for the wallet's own definite answer, `notSent`
 * only if no byte left, and everything in between `unknown`.
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

/** A profile or balance call without the wallet's data. */
export type ReadFailure = Exclude<BetAnswer, { kind: 'accepted' }>;

/** For a call that is given up before there is anything to send. @param error in words for people */
export function notSent(
  reason: NotSentReason,
  error: string,
): Extract<BetAnswer, { kind: 'notSent' }> {
  return { kind: 'notSent', reason, trace: { sent: false, latencyMs: 0, error } };
}
