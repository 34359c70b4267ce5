import type { Deadline } from '../domain/deadline.ts';
import type { BetOperation, CallClass, Operation } from '../domain/operation.ts';
import type {
  BetAnswer,
  NotSentReason,
  ReadFailure,
  WalletTrace,
} from '../domain/wallet-answer.ts';
import type { BreakerState } from '../outbound/breaker-settings.ts';
import type { JsonDocument } from '../protocol/json.ts';

/** An operation on a bet, its body already in the operator's terms. */
export interface BetCall {
  readonly operation: BetOperation;
  readonly method: 'POST' | 'PUT';
  /** The exact JSON text to sign and send. */
  readonly body: string;
  /** As it stands in the body: what the wallet has to echo. */
  readonly transactionId: string;
  readonly requestId: string;
  readonly deadline: Deadline;
  /** Asked in the moment a connection takes the request: whether it still may be sent. */
  readonly maySend?: () => boolean;
  /** The wallet has taken a result of this bet: "nothing to roll back" would hide a loss then. */
  readonly hadResult?: boolean;
}

/** A profile or balance request, its body already in the operator's terms. */
export interface ReadCall {
  readonly operation: 'profile' | 'balance';
  readonly body: string;
  readonly requestId: string;
  readonly deadline: Deadline;
}

/** A wallet's answer to a profile or balance call: its data, as they were read, or how it ended without. */
export type ReadAnswer =
  | { readonly kind: 'answered'; readonly document: JsonDocument; readonly trace: WalletTrace }
  | ReadFailure;

/** Items of the dialect that are kept by whoever makes a call, not by the adapter. */
export interface CallerDialect {
  /** Every bet call carries the token that the bet was placed with. */
  readonly alwaysSendToken: boolean;
  /** Repeats carry the `requestId` of the first attempt. */
  readonly stableRequestId: boolean;
  /** A settle or unsettle of unknown outcome is not sent again: a person has to decide. */
  readonly holdUnknownRepeats: boolean;
  /** Data updates are answered 200 and never sent. */
  readonly skipUpdates: boolean;
}

/** One operator's wallet. Every outcome is a value; a rejection is a programmer's error. */
export interface Wallet {
  readonly operatorId: string;
  readonly callerDialect: CallerDialect;
  /** Calls once, never again: whether to repeat is not this layer's to decide (I5). */
  bet(call: BetCall): Promise<BetAnswer>;
  read(call: ReadCall): Promise<ReadAnswer>;
  /**
   * Why a call made now would not be sent, as far as that is known without trying. Counts
   * nothing: `bet` and `read` check the same again, and count what they refuse.
   */
  refusal(operation: Operation): NotSentReason | undefined;
  breakerState(callClass: CallClass): BreakerState;
  inFlight(callClass: CallClass): number;
  /** Lets calls under way finish; later ones are not sent. */
  close(): Promise<void>;
}
