import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { moneyOf } from '../../tools/torture/money.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** What happens to the wallet's next call, if one comes. */
const FATES = {
  ok: undefined,
  lost: { kind: 'reset', effect: 'applied' },
  missed: { kind: 'reset' },
  refused: { kind: 'code', code: 20 },
} as const satisfies Readonly<Record<string, Misbehaviour | undefined>>;
type Fate = keyof typeof FATES;

const STAKE = '100';
/** The balance of every player of `unplacedBet`. */
const OPENING = '1000';

/** The bet as the service knows it from its answers (service protocol, Events). */
interface Model {
  place: CallResult | undefined;
  rollback: CallResult | undefined;
  paid: string;
  /** A result without an answer: the service sends no other result before it has one. */
  repeating: string | undefined;
}

type Step = fc.AsyncCommand<Model, TestBet>;
type Operation = 'place' | 'settle' | 'unsettle' | 'rollback' | 'update';

/** Sends one operation while the wallet does this to its call. */
async function under(
  bet: TestBet,
  operation: Operation,
  fate: Fate,
  send: () => Promise<CallResult>,
): Promise<CallResult> {
  const misbehaviour = FATES[fate];
  if (misbehaviour === undefined) return await send();
  const { transactionId } = bet;
  const behave = bet.wallet.misbehave(operation, misbehaviour, { transactionId, calls: 1 });
  try {
    return await send();
  } finally {
    behave();
  }
}

const codeOf = ({ json }: CallResult) => json?.code;
const isAccepted = ({ place }: Model) => place?.status === 200;

class Place implements Step {
  readonly fate: Fate;
  constructor(fate: Fate) {
    this.fate = fate;
  }
  check = () => true;
  async run(model: Model, bet: TestBet): Promise<void> {
    const told = await under(bet, 'place', this.fate, () => bet.place());
    if (model.place === undefined) {
      const codes = { ok: undefined, lost: 100, missed: 100, refused: 20 };
      expect(codeOf(told)).toBe(codes[this.fate]);
      model.place = told;
    } else if (model.rollback !== undefined) expect(codeOf(told)).toBe(8);
    else expect(told.body).toBe(model.place.body);
    expect(bet.wallet.arrivals(bet.transactionId, 'place').length).toBeLessThanOrEqual(1);
  }
  toString = () => `place (${this.fate})`;
}

/** A settle of this amount; `0` is an unsettle. */
class Result implements Step {
  readonly amount: string;
  readonly fate: Fate;
  constructor(amount: string, fate: Fate) {
    this.amount = amount;
    this.fate = fate;
  }
  /** One result after another; and no wallet refuses a repeat of what it may have executed. */
  check = ({ place, repeating }: Readonly<Model>) =>
    place !== undefined &&
    (repeating === undefined || (repeating === this.amount && this.fate !== 'refused'));
  async run(model: Model, bet: TestBet): Promise<void> {
    await result(model, bet, this.amount, this.fate);
  }
  toString = () => `${this.amount === '0' ? 'unsettle' : `settle ${this.amount}`} (${this.fate})`;
}

async function result(model: Model, bet: TestBet, amount: string, fate: Fate): Promise<void> {
  const told =
    amount === '0'
      ? await under(bet, 'unsettle', fate, () => bet.unsettle())
      : await under(bet, 'settle', fate, () => bet.settle(amount));
  const isUnknown = model.place !== undefined && codeOf(model.place) === 100;
  if (model.rollback !== undefined || !(isAccepted(model) || isUnknown)) {
    expect(codeOf(told)).toBe(5);
    return;
  }
  if (isUnknown) {
    expect(told.status).toBe(503);
    return;
  }
  if (told.status === 503) {
    model.repeating = amount;
    return;
  }
  model.repeating = undefined;
  if (told.status === 200) model.paid = amount;
  else expect(codeOf(told)).toBe(20);
}

class Rollback implements Step {
  readonly fate: Exclude<Fate, 'refused'>;
  constructor(fate: Exclude<Fate, 'refused'>) {
    this.fate = fate;
  }
  check = ({ place }: Readonly<Model>) => place !== undefined;
  async run(model: Model, bet: TestBet): Promise<void> {
    const told = await under(bet, 'rollback', this.fate, () => bet.rollback());
    expect(told.status).toBe(200);
    expect(told.body).toBe(model.rollback?.body ?? told.body);
    model.rollback = told;
    model.repeating = undefined;
  }
  toString = () => `rollback (${this.fate})`;
}

class Update implements Step {
  readonly fate: Fate;
  constructor(fate: Fate) {
    this.fate = fate;
  }
  check = ({ place }: Readonly<Model>) => place !== undefined;
  async run(_: Model, bet: TestBet): Promise<void> {
    const told = await under(bet, 'update', this.fate, () => bet.update('1.5'));
    expect(told.status).toBe(200);
  }
  toString = () => `update (${this.fate})`;
}

/** What the service repeats and rolls back, and what the worker delivers. */
async function heal(model: Model, bet: TestBet): Promise<void> {
  if (model.place !== undefined && codeOf(model.place) === 100 && !model.rollback) {
    model.rollback = await bet.rollback();
  }
  if (model.repeating !== undefined) await result(model, bet, model.repeating, 'ok');
  const isHome = async () => {
    const states = (await bet.deliveries()).map(({ state }) => state);
    expect(states.filter((state) => state === 'pending' || state === 'live')).toEqual([]);
  };
  await vi.waitFor(isHome, { timeout: 20_000, interval: 20 });
}

const fate = fc.oneof(
  { weight: 2, arbitrary: fc.constant('ok' as const) },
  { weight: 2, arbitrary: fc.constantFrom('ok', 'lost', 'missed', 'refused') },
);
const open = fc.constantFrom('ok', 'lost', 'missed');
const amounts = fc.constantFrom('20', '50', '20.5', '0');
const commands = fc.commands(
  [
    fate.map((one) => new Place(one)),
    fc.tuple(amounts, fate).map(([amount, one]) => new Result(amount, one)),
    fc.tuple(amounts, fate).map(([amount, one]) => new Result(amount, one)),
    open.map((one) => new Rollback(one)),
    fate.map((one) => new Update(one)),
  ],
  { maxCommands: 10 },
);

describe('the life of a bet, through the whole gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    const delivery = { minBackoffMs: 10, maxBackoffMs: 50 };
    // Answers that are lost on purpose must not open the breaker.
    const wallet = { breaker: { minRequests: 100_000 } };
    const operators = { alpha: { wallet } };
    gateway = await startTestGateway({ gateway: { delivery }, operators, worker: true });
  });
  afterAll(() => gateway.close());

  it('has only legal answers and ends with equal books (I2-I6)', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fate, commands, async (first, steps) => {
        const bet = await unplacedBet(gateway, { amount: STAKE });
        const model: Model = {
          ...{ place: undefined, rollback: undefined, paid: '0', repeating: undefined },
        };
        await fc.asyncModelRun(() => ({ model, real: bet }), [new Place(first), ...steps]);
        await heal(model, bet);
        const isHeld = isAccepted(model) && model.rollback === undefined;
        const moved = isHeld ? moneyOf(model.paid) - moneyOf(STAKE) : 0n;
        expect(moneyOf(bet.balance())).toBe(moneyOf(OPENING) + moved);
      }),
      { numRuns: 25, interruptAfterTimeLimit: 15_000 },
    );
  });
});
