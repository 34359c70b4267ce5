import type { OperatorConfig } from '../config/operator-config.ts';
import type { Clock } from '../domain/clock.ts';
import { GatewayError } from '../domain/errors.ts';
import type { DeliveryStore, TakenDelivery } from '../store/delivery-store.ts';
import type { Wallet } from '../wallets/call.ts';
import { type Delivering, putBack, record, type Tried, tryDelivery } from './deliver.ts';
import type { Pace } from './pace.ts';

export interface Slicing extends Delivering {
  readonly clock: Clock;
  readonly store: DeliveryStore;
}

interface Claimed {
  readonly taken: TakenDelivery;
  /** When its row was taken, on the monotonic clock. */
  readonly atMs: number;
}

/** Claimed ahead is what can begin within this time: a claimed bet is closed to everything else. */
const AHEAD_MS = 50;
const AHEAD_MAX = 256;
/** A lane does not wait until its last outcome is written, unless so many are not. */
const UNWRITTEN_MAX = 128;
/** How much the latest call counts in the average. */
const LATEST_WEIGHT = 0.1;

/**
 * One slice of an operator's backlog: as many lanes as calls may be under way. A lane claims, calls,
 * hands the outcome over to be written together with others, and goes on.
 */
export class Slice {
  readonly #slicing: Slicing;
  readonly #options: {
    readonly wallet: Wallet;
    readonly operator: OperatorConfig;
    readonly pace: Pace;
    /** On the monotonic clock. */
    readonly endsAtMs: number;
    readonly isHeld: () => boolean;
    readonly isStopping: () => boolean;
  };
  readonly #lanes: number;
  readonly #isProbe: boolean;
  readonly #claimed: Claimed[] = [];
  readonly #unwritten = new Set<Promise<void>>();
  #claiming: Promise<void> | undefined;
  #waiting = 0;
  #callMs: number | undefined;
  #isDry = false;
  #wasRefused = false;
  #failure: unknown;

  constructor(slicing: Slicing, options: (typeof Slice.prototype)['#options']) {
    this.#slicing = slicing;
    this.#options = options;
    // A half-open breaker admits one call: more would only be put back.
    this.#isProbe = options.wallet.breakerState('money') === 'half_open';
    this.#lanes = this.#isProbe ? 1 : options.operator.delivery.concurrency;
  }
}
