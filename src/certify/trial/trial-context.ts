import type { ServiceCaller } from '../calls/caller.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import type { BalanceLag } from './balance-lag.ts';

/** The case cannot be tried; the message says why. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** The case cannot be judged, because the wallet does not give the player's balance. */
export class NoBalance extends Error {
  override readonly name = 'NoBalance';
}

/** Limits of one call's latency, milliseconds. */
export interface LatencyLimits {
  readonly warnMs: number;
  readonly failMs: number;
}

export interface TrialContext {
  readonly caller: ServiceCaller;
  /** Another player of the same wallet, if one was named. */
  readonly other: { readonly userId: string; readonly token: string } | undefined;
  /** Currencies of the operator's file. */
  readonly currencies: readonly string[];
  readonly secret: string;
  readonly latency: LatencyLimits;
  /** The delay of a late repeat, in milliseconds. */
  readonly lateMs: number;
  /** Of all runs of the cases: looking for it takes seconds. */
  readonly lag: BalanceLag;
  /** When aborted, nothing more is awaited. */
  readonly signal: AbortSignal;
  /** Every call of the run so far, this case's included. */
  readonly record: RecordedCall[];
}
