import type { Deadline } from '../domain/deadline.ts';
import type { BetOperation, CallClass, Operation } from '../domain/operation.ts';
import type {
  BetAnswer,
  NotSentReason,
  ReadFailure,
  WalletTrace,
} from '../domain/wallet-answer.ts';
import type { BreakerState } from '../outbound/breaker.ts';
import type { JsonDocument } from '../protocol/json.ts';

/** An operation on a bet, its body already in the operator's terms. */
export interface BetCall {
  readonly operation: BetOperation;
  readonly method: 'POST' | 'PUT';
  /** The exact JSON text to sign and send. */
  readonly body: string;
  /** As in the body; the wallet has to echo it. */
  readonly transactionId: string;
  readonly requestId: string;
  readonly deadline: Deadline;
  /** Called at the moment a connection takes the request: whether it may still be sent. */
  readonly maySend?: () => boolean;
  /** The wallet has taken a result of this bet, or may have: "nothing to roll back" would hide a loss then. */
  readonly hadResult?: boolean;
}

/** A profile or balance request, its body already in the operator's terms. */
export interface ReadCall {
  readonly operation: 'profile' | 'balance';
  readonly body: string;
  readonly requestId: string;
  readonly deadline: Deadline;
  /** What only the caller can see to be wrong with the data: then they are a broken answer, and count as one. */
  readonly whyBroken?: (document: JsonDocument) => string | undefined;
}

/** A wallet's answer to a profile or balance call: its data, or why there is none. */
export type ReadAnswer =
  | { readonly kind: 'answered'; readonly document: JsonDocument; readonly trace: WalletTrace }
  | ReadFailure;

/** Dialect items implemented by the callers of a wallet, not by its adapter. */
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

/** One operator's wallet. Every outcome is a value; a rejection is a programming error. */
export interface Wallet {
  readonly operatorId: string;
  readonly callerDialect: CallerDialect;
  /** Calls at most once: whether to repeat is not decided in this layer (I5). */
  bet(call: BetCall): Promise<BetAnswer>;
  read(call: ReadCall): Promise<ReadAnswer>;
  /** Why a call made now would not be sent; undefined if it may be. Counts nothing, unlike `bet` and `read`. */
  refusal(operation: Operation): NotSentReason | undefined;
  breakerState(callClass: CallClass): BreakerState;
  inFlight(callClass: CallClass): number;
  /** Waits for calls in flight; later ones are not sent. */
  close(): Promise<void>;
}
