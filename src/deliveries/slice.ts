import { setTimeout as sleep } from 'node:timers/promises';
import type { OperatorConfig } from '../config/schema/schema.ts';
import { SendPermit } from '../operations/attempt.ts';
import { recordDelivery, type TriedDelivery, tryDelivery } from '../operations/deliver.ts';
import type { Engine } from '../operations/engine.ts';
import type { TakenDelivery } from '../store/deliveries/claim-statements.ts';
import type { DeliveryStore } from '../store/deliveries/queue.ts';
import type { Wallet } from '../wallets/call.ts';
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
  /** Created before the row was claimed. */
  readonly permit: SendPermit;
}

/** Claim ahead only what can begin within this time: a claimed bet blocks everything else. */
const AHEAD_MS = 50;
const AHEAD_MAX = 256;
/** Due deliveries to read after a claim without any to send: overtaken, or of another generation. */
const UNCLOG_MAX = 1_000;
/** A lane continues before its last outcome is written, unless more than this many are unwritten. */
const UNWRITTEN_MAX = 128;
/** The latest call's weight in the moving average. */
const LATEST_WEIGHT = 0.1;

/** One slice of an operator's backlog, with one lane for each call in flight. Outcomes are written in batches. */
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
  #hasYielded = false;
  #wasRefused = false;
  #failure: unknown;

  constructor(slicing: Slicing, options: SliceOptions) {
    this.#slicing = slicing;
    this.#options = options;
    // A half-open breaker admits one call; others would be refused and put back.
    this.#isProbe = options.wallet.breakerState('money') === 'half_open';
    this.#lanes = this.#isProbe ? 1 : options.operator.delivery.concurrency;
  }

  get isDry(): boolean {
    return this.#isDry;
  }

  /** Whether a call was refused locally; the rest was then not attempted. */
  get wasRefused(): boolean {
    return this.#wasRefused;
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE` if deliveries could not be claimed */
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
      if (tried.after.kind === 'unsent') this.#wasRefused = true;
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
        // Deliveries that are just being claimed are still sent: otherwise they would wait for their lease to end.
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
    // Lets other idle lanes join this claim.
    await new Promise(setImmediate);
    const { operator, wallet } = this.#options;
    const wanted = this.#isClogged ? UNCLOG_MAX : Math.max(this.#waiting, this.#ahead, 1);
    const limit = await this.#yield(wanted);
    // Meanwhile its operator may have been held, or this process told to stop.
    if (limit === 0 || this.#isOver()) return;
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
        skipsUpdates: wallet.callerDialect.skipUpdates,
      });
      for (const { id, transactionId, error } of unreadable) {
        const facts = { err: error, operator: operator.id, delivery: id, transactionId };
        this.#slicing.logger.error(facts, 'delivery.unreadable');
      }
      this.#hasProbed = this.#isProbe && taken.length > 0;
      this.#isDry = isDry;
      this.#isClogged = !isDry && taken.length === 0;
      // What the half-open breaker had made due was obsolete or another wallet's: it still needs a call.
      if (this.#isProbe && this.#isClogged) await this.#slicing.store.nudge(operator.id);
      this.#claimed.push(...taken.map((one) => ({ taken: one, permit })));
    } catch (error) {
      this.#failure = error;
    }
  }

  /** Waits while live calls go first. @returns how many of these deliveries may begin; 0: none within this slice */
  async #yield(wanted: number): Promise<number> {
    const turn = this.#slicing.liveCalls.turn(wanted, this.#options.endsAtMs);
    this.#hasYielded = turn === undefined;
    if (turn === undefined) return 0;
    if (turn.inMs > 0) await sleep(turn.inMs);
    return turn.count;
  }

  /** How many to claim so that all begin within `AHEAD_MS`; 0: only for idle lanes. */
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
      this.#hasYielded ||
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
