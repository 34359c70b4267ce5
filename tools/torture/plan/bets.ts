import { FateWriter } from './fates.ts';
import {
  type BetPlan,
  CHARACTERS,
  type Copy,
  type Move,
  OPERATORS,
  type OperatorId,
  type ResultType,
  type Step,
} from './plan.ts';
import type { Random } from './random.ts';

/** Rollback errorCodes of the control stage (service protocol, Events). */
const CONTROL_STAGE = [8, 9, 32, 50, 110, 115] as const;
const RECALCULATION_BLOCKED = [20, 21] as const;
const PAYING: readonly ResultType[] = ['won', 'won', 'won', 'refund'];

interface StepOptions {
  readonly pauseMs?: number;
  readonly isAlongside?: boolean;
  readonly replayShare?: number;
  readonly twinShare?: number;
}

/** Writes one bet's history: the service's steps, and how its wallet answers them. */
export class BetWriter {
  readonly #random: Random;
  readonly #id: string;
  readonly #operator: OperatorId;
  readonly #steps: Step[] = [];
  readonly #refuses: Record<string, number> = {};
  readonly fates: FateWriter;
  #lastWhole: string | undefined;

  constructor(random: Random, index: number) {
    this.#random = random;
    this.#id = `b${index}`;
    this.#operator = random.pick(OPERATORS);
    this.fates = new FateWriter(random, this.#id);
  }

  get isKeyed(): boolean {
    return CHARACTERS[this.#operator].keyedOnRequestId;
  }

  step(
    move: Move,
    {
      pauseMs = this.#pause(),
      isAlongside = false,
      replayShare = 0.08,
      twinShare = 0.12,
    }: StepOptions = {},
  ): this {
    const id = `${this.#id}.o${this.#steps.length}`;
    const copies: Copy[] = [];
    const copy = (kind: Copy['kind'], afterMs: number) =>
      copies.push({ id: `${id}.c${copies.length}`, kind, afterMs, via: this.#random.whole(0, 3) });
    if (this.#random.chance(twinShare)) copy('twin', this.#random.whole(0, 120));
    if (this.#random.chance(replayShare)) copy('replay', this.#random.whole(0, 900));
    if (move.kind === 'place') {
      if (this.#random.chance(0.05)) copy('conflict', this.#random.whole(0, 600));
    } else if (this.#random.chance(0.08)) {
      copy('again', this.#random.whole(0, 40));
    }
    const via = this.#random.whole(0, 3);
    this.#steps.push({ id, move, pauseMs, isAlongside, via, copies });
    return this;
  }

  place(): this {
    return this.step({ kind: 'place' }, { pauseMs: 0, replayShare: 0.25 });
  }

  /** @returns the amount of the result */
  settle(resultType: ResultType = this.#random.pick(PAYING), pauseMs = this.#pause()): string {
    const amount = this.#random.weighted([
      [1, '0'],
      [8, amountOf(this.#random)],
      // A correction that changes only the cents.
      [this.#lastWhole === undefined ? 0 : 2, `${this.#lastWhole}.${this.#random.whole(10, 49)}`],
    ]);
    this.#lastWhole = amount.split('.')[0];
    const type = amount === '0' ? 'lost' : resultType;
    this.step({ kind: 'settle', amount, resultType: type }, { pauseMs });
    return amount;
  }

  unsettle(pauseMs = this.#pause()): this {
    return this.step({ kind: 'unsettle' }, { pauseMs });
  }

  rollback(isAlongside = false): this {
    const move = { kind: 'rollback', errorCode: this.#random.pick(CONTROL_STAGE) } as const;
    return this.step(move, { isAlongside, replayShare: 0.25 });
  }

  update(): this {
    const coefficient = `${this.#random.whole(1, 9)}.${this.#random.whole(1, 99)}`;
    return this.step({ kind: 'update', coefficient }, { isAlongside: this.#random.chance(0.7) });
  }

  refuse(amount: string): this {
    this.#refuses[amount] = this.#random.pick(RECALCULATION_BLOCKED);
    return this;
  }

  done(startMs: number, isForgotten: boolean): BetPlan {
    return {
      id: this.#id,
      operator: this.#operator,
      stake: amountOf(this.#random),
      startMs,
      isFreebet: this.#random.chance(0.1),
      isForgotten,
      refuses: this.#refuses,
      steps: this.#steps.map((step, index) => withoutLaterUpdates(step, this.#steps[index + 1])),
      fates: this.fates.done(),
    };
  }

  #pause(): number {
    return this.#random.weighted([
      [3, 0],
      [3, this.#random.whole(1, 40)],
      [3, this.#random.whole(40, 400)],
      [1, this.#random.whole(400, 1_500)],
    ]);
  }
}

/** Next to another update, one under a new `requestId` would be a new operation and no repeat. */
function withoutLaterUpdates(step: Step, next: Step | undefined): Step {
  const isBeside = step.isAlongside || next?.isAlongside === true;
  if (step.move.kind !== 'update' || !isBeside) return step;
  return { ...step, copies: step.copies.filter(({ kind }) => kind !== 'again') };
}

/** Mostly two decimal places; sometimes values that a double cannot hold. */
function amountOf(random: Random): string {
  return random.weighted([
    [6, `${random.whole(1, 500)}.${String(random.whole(0, 99)).padStart(2, '0')}`],
    [2, `${random.whole(1, 90)}.${random.whole(1, 9)}0`],
    [1, `0.0000${random.whole(1000, 9999)}`.slice(0, 10)],
    [1, `${random.whole(1, 9)}00000.${random.whole(10_000_001, 99_999_999)}`],
  ]);
}
