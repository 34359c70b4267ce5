import { LATE_MS_MAX, WALLET_TIMEOUT_MS } from '../settings.ts';
import type { BetOperation, Fate, FateAnswer } from './plan.ts';
import type { Random } from './random.ts';

/** Answers that leave the outcome unknown to the caller. */
const UNCERTAIN: readonly (readonly [number, FateAnswer])[] = [
  [5, 'hang'],
  [3, 'reset'],
  [1, 'cutShort'],
  [3, 'status500'],
  [1, 'code'],
];

const SYSTEM_ERROR = 100;
/** Codes with which a wallet may refuse a place that it has debited. */
const UNCERTAIN_CODES = [8, 10, SYSTEM_ERROR] as const;

/** Decides what happens to single calls at a bet's wallet. */
export class FateWriter {
  readonly #random: Random;
  readonly #bet: string;
  readonly #fates: Fate[] = [];

  constructor(random: Random, bet: string) {
    this.#random = random;
    this.#bet = bet;
  }

  done(): readonly Fate[] {
    return this.#fates;
  }

  /** Executed, but the caller does not learn it. */
  lost(operation: BetOperation, nth: number): this {
    return this.#write(operation, nth, 'now', this.#random.weighted(UNCERTAIN));
  }

  /** Not executed, and the caller does not learn it. */
  missed(operation: BetOperation, nth: number): this {
    return this.#write(operation, nth, 'never', this.#random.weighted(UNCERTAIN));
  }

  /** Executed only after the caller has given up. */
  late(operation: BetOperation, nth: number): this {
    const answer = this.#random.weighted<FateAnswer>([
      [3, 'hang'],
      [1, 'reset'],
      [1, 'status500'],
    ]);
    const from = answer === 'hang' ? WALLET_TIMEOUT_MS + 50 : 30;
    const delayMs = from + this.#random.whole(0, LATE_MS_MAX);
    return this.#write(operation, nth, 'late', answer, delayMs);
  }

  /** Executed and answered well, but slowly. */
  slow(operation: BetOperation, nth: number): this {
    return this.#write(operation, nth, 'now', 'slow', this.#random.whole(20, WALLET_TIMEOUT_MS));
  }

  decline(operation: BetOperation, nth: number, code: number): this {
    return this.#write(operation, nth, 'never', 'code', 0, code);
  }

  /** One of the uncertain fates. */
  uncertain(operation: BetOperation, nth: number, mayBeLate: boolean): this {
    const fate = this.#random.weighted([
      [3, 'lost'],
      [3, 'missed'],
      [mayBeLate ? 3 : 0, 'late'],
      [1, 'slow'],
    ] as const);
    return this[fate](operation, nth);
  }

  #write(
    operation: BetOperation,
    nth: number,
    effect: Fate['effect'],
    answer: FateAnswer,
    delayMs = 0,
    code: number = operation === 'place' ? this.#random.pick(UNCERTAIN_CODES) : SYSTEM_ERROR,
  ): this {
    if (this.#fates.some((fate) => fate.operation === operation && fate.nth === nth)) return this;
    const id = `${this.#bet}.f${this.#fates.length}`;
    this.#fates.push({ id, operation, nth, effect, answer, delayMs, code });
    return this;
  }
}
