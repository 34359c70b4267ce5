import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Life } from './support/life.ts';
import { FATES, type Fate } from './support/model-wallet.ts';
import type { Told } from './support/told.ts';

/**
 * The bet as the service knows it (service protocol, Events): what it was answered, and so which answers are
 * allowed from now on.
 */
interface Model {
  place: Told | undefined;
  rollback: Told | undefined;
  /** The last result that was answered 200; undefined if there is none. */
  standing: string | undefined;
  /** The result being repeated: the service sends no other until it is answered. */
  repeating: string | undefined;
  /** Refused for good after it was answered 200: a person decides (a dead letter). */
  isForPerson: boolean;
}

type Step = fc.Command<Model, Life>;

const isUnknown = ({ place }: Model) => place?.code === 100;
/** False if no wallet holds it: declined, or answered 100 and rolled back. */
const isAccepted = ({ place }: Model) => place?.status === 200;

class Place implements Step {
  readonly fate: Fate;
  constructor(fate: Fate) {
    this.fate = fate;
  }
  check = () => true;
  run(model: Model, life: Life): void {
    const told = life.place(this.fate);
    // A copy gets the first answer, and is never sent (I5); after a rollback it is fenced (I6).
    if (model.place === undefined) model.place = told;
    else if (model.rollback === undefined) expect(told).toEqual(model.place);
    else expect(told).toEqual({ status: 400, code: 8 });
    expect(life.wallet.places).toBeLessThanOrEqual(1);
    const definite = { ok: 200, refused: 7, lost: 100, missed: 100, late: 100, notSent: 100 };
    if (model.place === told) expect(told.code ?? told.status).toBe(definite[this.fate]);
  }
  toString = () => `place (${this.fate})`;
}

class Settle implements Step {
  readonly amount: string;
  readonly fate: Fate;
  constructor(amount: string, fate: Fate) {
    this.amount = amount;
    this.fate = fate;
  }
  check = (model: Readonly<Model>) => mayAsk(model, this.amount, this.fate);
  run(model: Model, life: Life): void {
    const told = life.settle({ amount: this.amount, resultType: 'won' }, this.fate);
    expectLegal(model, told, this.amount);
  }
  toString = () => `settle ${this.amount} (${this.fate})`;
}

class Unsettle implements Step {
  readonly fate: Fate;
  constructor(fate: Fate) {
    this.fate = fate;
  }
  check = (model: Readonly<Model>) => mayAsk(model, 'none', this.fate);
  run(model: Model, life: Life): void {
    expectLegal(model, life.unsettle(this.fate), 'none');
  }
  toString = () => `unsettle (${this.fate})`;
}

class Rollback implements Step {
  readonly fate: Fate;
  constructor(fate: Fate) {
    this.fate = fate;
  }
  check = ({ place }: Readonly<Model>) => place !== undefined;
  run(model: Model, life: Life): void {
    const told = life.rollback(this.fate);
    // Never refused, and a repeat gets the same answer (I4).
    expect(told.status).toBe(200);
    if (model.rollback !== undefined) expect(told).toEqual(model.rollback);
    model.rollback = told;
    model.repeating = undefined;
  }
  toString = () => `rollback (${this.fate})`;
}

class Update implements Step {
  readonly key: string;
  readonly fate: Fate;
  constructor(key: string, fate: Fate) {
    this.key = key;
    this.fate = fate;
  }
  check = ({ place }: Readonly<Model>) => place !== undefined;
  run(_: Model, life: Life): void {
    expect(life.update(this.key, this.fate).status).toBe(200);
  }
  toString = () => `update ${this.key} (${this.fate})`;
}

/** The worker tries the oldest promise. */
class Bring implements Step {
  readonly fate: Fate;
  constructor(fate: Fate) {
    this.fate = fate;
  }
  check = ({ place }: Readonly<Model>) => place !== undefined;
  run(model: Model, life: Life): void {
    const [first] = life.bet?.deliveries ?? [];
    const isResult = first?.operation === 'settle' || first?.operation === 'unsettle';
    if (isResult && this.fate === 'refused') model.isForPerson = true;
    life.bring(this.fate);
  }
  toString = () => `bring (${this.fate})`;
}

/** One result after another; and no wallet refuses a repeat of what it may have executed. */
function mayAsk({ place, repeating }: Model, result: string, fate: Fate): boolean {
  if (place === undefined) return false;
  return repeating === undefined || (repeating === result && fate !== 'refused');
}

/** Which answers a result may get, given the earlier ones. */
function expectLegal(model: Model, told: Told, result: string): void {
  if (model.rollback !== undefined || !(isAccepted(model) || isUnknown(model))) {
    // Rolled back, or held by no wallet: a conflict, and nothing is sent.
    expect(told).toEqual({ status: 400, code: 5 });
    return;
  }
  // Neither paid nor refused while nobody knows whether the stake was taken; a conflict if it is certain that
  // nothing was sent.
  if (!isAccepted(model)) {
    expect([503, 400]).toContain(told.status);
    return;
  }
  if (told.status === 503) {
    model.repeating = result;
    return;
  }
  model.repeating = undefined;
  // A refusal by the wallet changes nothing, and only a wallet refuses.
  if (told.status === 200) model.standing = result === 'none' ? undefined : result;
  else expect([20, 21]).toContain(told.code);
}

/** What time and the service's repeats repair. */
function heal(model: Model, life: Life): void {
  for (let round = 0; round < 3; round += 1) {
    if (isUnknown(model) && model.rollback === undefined) model.rollback = life.rollback('ok');
    if (model.repeating !== undefined && model.rollback === undefined) {
      const told =
        model.repeating === 'none'
          ? life.unsettle('ok')
          : life.settle({ amount: model.repeating, resultType: 'won' }, 'ok');
      expectLegal(model, told, model.repeating);
    }
    while (life.bring('ok'));
  }
  for (let times = 0; times < 2; times += 1) {
    life.wallet.landLate();
    life.confirm();
  }
}

const fate = fc.oneof(
  { weight: 3, arbitrary: fc.constant('ok' as const) },
  { weight: 2, arbitrary: fc.constantFrom(...FATES) },
);
const commands = fc.commands(
  [
    fate.map((one) => new Place(one)),
    fc.tuple(fc.constantFrom('20', '50', '20.5'), fate).map(([a, f]) => new Settle(a, f)),
    fc.tuple(fc.constantFrom('20', '50', '20.5'), fate).map(([a, f]) => new Settle(a, f)),
    fate.map((one) => new Unsettle(one)),
    fate.map((one) => new Rollback(one)),
    fc.tuple(fc.constantFrom('1.5', '2'), fate).map(([key, f]) => new Update(key, f)),
    fate.map((one) => new Bring(one)),
  ],
  { maxCommands: 14 },
);

describe('the life of a bet, by the domain alone', () => {
  it.each([
    ['a result that is not brought is answered 503', false],
    ['a first settle that is not brought is taken over', true],
  ])('has only legal answers and ends with equal books (I2-I6): %s', (_, queues) => {
    fc.assert(
      fc.property(commands, (steps) => {
        const life = new Life(queues);
        const model: Model = {
          ...{ place: undefined, rollback: undefined, standing: undefined },
          ...{ repeating: undefined, isForPerson: false },
        };
        fc.modelRun(() => ({ model, real: life }), steps);
        fc.pre(model.place !== undefined);
        heal(model, life);
        const isHeld = isAccepted(model) && model.rollback === undefined;
        expect(life.wallet.isHeld).toBe(isHeld);
        if (isHeld && !model.isForPerson) expect(life.wallet.result).toBe(model.standing);
      }),
      { numRuns: 5_000 },
    );
  });
});
