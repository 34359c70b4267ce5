import type { OperatorConfig } from '../config/schema.ts';
import type { Engine } from '../engine/context.ts';
import { SendPermit } from '../engine/send-permit.ts';
import type { DeliveryStore } from '../store/deliveries/queue.ts';
import type { TakenDelivery } from '../store/deliveries/taken.ts';
import type { Wallet } from '../wallets/call.ts';
import { recordDelivery, type TriedDelivery, tryDelivery } from './deliver.ts';
import type { Pace } from './pace.ts';

export interface Slicing extends Engine {
  readonly store: DeliveryStore;
}

export interface SliceOptions {
  readonly wallet: Wallet;
  readonly operator: OperatorConfig;
  /** The operator's own, kept from slice to slice. */
  readonly pace: Pace;
  /** On the monotonic clock. */
  readonly endsAtMs: number;
  readonly isHeld: () => boolean;
  readonly isStopping: () => boolean;
}

interface Claimed {
  readonly taken: TakenDelivery;
  /** From before its row was taken. */
  readonly permit: SendPermit;
}

/** Claimed ahead is what can begin within this time: a claimed bet is closed to everything else. */
const AHEAD_MS = 50;
const AHEAD_MAX = 256;
/** How many due deliveries are looked at where none may be sent: overtaken, of an older generation. */
const UNCLOG_MAX = 1_000;
/** A lane does not wait until its last outcome is written, unless this many are unwritten. */
const UNWRITTEN_MAX = 128;
/** How much the latest call counts in the average. */
const LATEST_WEIGHT = 0.1;

/**
 * One slice of an operator's backlog: as many lanes as calls may be under way. A lane claims, calls,
 * hands the outcome over to be written together with others, and goes on.
 */
export class Slice {
  readonly #slicing: Slicing;
  readonly #options: SliceOptions;
  readonly #lanes: number;
  readonly #isProbe: boolean;
  readonly #claimed: Claimed[] = [];
  readonly #unwritten = new Set<Promise<void>>();
  #claiming: Promise<void> | undefined;
  #waiting = 0;
  #callMs: number | undefined;
  #isDry = false;
  #isClogged = false;
  #hasProbed = false;
  #wasRefused = false;
  #failure: unknown;

  constructor(slicing: Slicing, options: SliceOptions) {
    this.#slicing = slicing;
    this.#options = options;
    // A half-open breaker admits one call: more would only be put back.
    this.#isProbe = options.wallet.breakerState('money') === 'half_open';
    this.#lanes = this.#isProbe ? 1 : options.operator.delivery.concurrency;
  }
  /** Nothing was due any more. */
  get isDry(): boolean {
    return this.#isDry;
  }

  /** A call was not let through, so that the rest was not worth trying. */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE` when deliveries could not be claimed */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#lanes }, () => this.#lane()));
    await Promise.all(this.#unwritten);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #lane(): Promise<void> {
    const { wallet, operator, pace, endsAtMs } = this.#options;
    while (await pace.turn(operator.delivery.ratePerSecond, endsAtMs)) {
      const next = await this.#next();
      if (next === undefined) return;
      const beganAtMs = this.#slicing.clock.monotonicMs();
      const tried = await tryDelivery(
        this.#slicing,
        wallet,
        next.taken,
        next.permit,
        operator.wallet.generation,
      );
      this.#learn(this.#slicing.clock.monotonicMs() - beganAtMs);
      if (tried.concluded.delivery.after.kind === 'unsent') this.#wasRefused = true;
      const written = this.#write(tried);
      if (this.#unwritten.size > UNWRITTEN_MAX) await written;
    }
  }

  async #next(): Promise<Claimed | undefined> {
    this.#waiting += 1;
    try {
      for (;;) {
        const next = this.#claimed.shift();
        if (next !== undefined) {
          if (this.#claimed.length < this.#ahead / 2 && !this.#isOver()) this.#startClaiming();
          return next;
        }
        // What is just being claimed is still delivered: otherwise it would wait for its lease to
        // end.
        if (this.#isOver() && this.#claiming === undefined) return undefined;
        await this.#startClaiming();
      }
    } finally {
      this.#waiting -= 1;
    }
  }

  #startClaiming(): Promise<void> {
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
    });
    return this.#claiming;
  }

  async #claim(): Promise<void> {
    // Lets the other idle lanes come as well.
    await new Promise(setImmediate);
    const { operator } = this.#options;
    const limit = this.#isClogged ? UNCLOG_MAX : Math.max(this.#waiting, this.#ahead, 1);
    const permit = new SendPermit(this.#slicing.clock);
    try {
      const {
        taken,
        unreadable = [],
        isDry,
      } = await this.#slicing.store.take(operator.id, {
        generation: operator.wallet.generation,
        limit,
        which: this.#isProbe ? 'money' : 'all',
      });
      for (const { id, transactionId, error } of unreadable) {
        const facts = { err: error, operator: operator.id, delivery: id, transactionId };
        this.#slicing.logger.error(facts, 'delivery.unreadable');
      }
      this.#hasProbed = this.#isProbe && taken.length > 0;
      this.#isDry = isDry;
      this.#isClogged = !isDry && taken.length === 0;
      this.#claimed.push(...taken.map((one) => ({ taken: one, permit })));
    } catch (error) {
      this.#failure = error;
    }
  }

  /** How many may be claimed at once, so that all of them begin soon; 0: only for idle lanes. */
  get #ahead(): number {
    const { ratePerSecond } = this.#options.operator.delivery;
    if (this.#isProbe || ratePerSecond !== undefined || this.#callMs === undefined) return 0;
    return Math.min(AHEAD_MAX, Math.floor((AHEAD_MS / this.#callMs) * this.#lanes));
  }

  #learn(callMs: number): void {
    const before = this.#callMs ?? callMs;
    this.#callMs = Math.max(0.1, before + LATEST_WEIGHT * (callMs - before));
  }

  #isOver(): boolean {
    const { endsAtMs, isHeld, isStopping } = this.#options;
    return (
      this.#isDry ||
      this.#wasRefused ||
      this.#hasProbed ||
      this.#failure !== undefined ||
      this.#slicing.clock.monotonicMs() >= endsAtMs ||
      isStopping() ||
      isHeld()
    );
  }

  #write(tried: TriedDelivery): Promise<void> {
    const written = recordDelivery(this.#slicing, tried).finally(() =>
      this.#unwritten.delete(written),
    );
    this.#unwritten.add(written);
    return written;
  }
}
