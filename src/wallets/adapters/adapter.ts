import type { Clock } from '../../domain/clock.ts';
import type { HttpRequest, HttpResponse } from '../../outbound/http-message.ts';
import type { JsonDocument } from '../../protocol/json.ts';
import type { BetCall, CallerDialect, ReadCall } from '../call.ts';
import type { WalletSettings } from '../wallet-config.ts';

/** Maximum length of a decline's message; one of this length may end in the middle of a secret. */
export const MESSAGE_LENGTH_MAX = 255;

/** Exactly as the journal will return it, because a copy gets the same words as the first answer. */
export function keptMessage(message: string): string {
  return message.replaceAll('\0', '').slice(0, MESSAGE_LENGTH_MAX).toWellFormed();
}

/** The wallet says that it did not execute the call. */
export interface Declined {
  readonly kind: 'declined';
  readonly code: number;
  readonly message: string;
}

/** An answer from which the outcome cannot be known. */
export interface NotUnderstood {
  readonly kind: 'unknown';
  readonly fault: 'http_error' | 'bad_answer';
  readonly error: string;
  /** The wallet's code, if it leaves open what it did; such an answer does not count against its health. */
  readonly code?: number;
  /** Its content shows that it answers another call. */
  readonly isOfOtherCall?: true;
}

export type BetVerdict =
  | { readonly kind: 'accepted'; readonly transactionTime: string }
  | Declined
  | NotUnderstood;

export type ReadVerdict =
  | { readonly kind: 'answered'; readonly document: JsonDocument }
  | Declined
  | NotUnderstood;

/** Translates a wallet's protocol, without network access. A new adapter is a file here and a line in `index.ts`. */
export interface WalletAdapter {
  readonly callerDialect: CallerDialect;
  /** @param budgetMs how long the gateway will wait for the answer */
  betRequest(call: BetCall, budgetMs: number): HttpRequest;
  readRequest(call: ReadCall, budgetMs: number): HttpRequest;
  /** Must not declare a place declined unless the wallet said so with a definite code (I2). */
  betVerdict(call: BetCall, response: HttpResponse): BetVerdict;
  readVerdict(call: ReadCall, response: HttpResponse): ReadVerdict;
}

export type AdapterFactory = (settings: WalletSettings, clock: Clock) => WalletAdapter;
