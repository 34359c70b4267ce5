import { BetWriter } from './bets.ts';
import { writeFaults } from './faults.ts';
import { MOTIFS } from './motifs.ts';
import {
  type BetPlan,
  CHARACTERS,
  type Fault,
  type FaultPlan,
  OPERATORS,
  type OperatorId,
  type Step,
  type Trigger,
} from './plan.ts';
import type { Random } from './random.ts';
import type { Scene } from './scenes.ts';

/*
 * Scenes that break the assumptions of the others: that the gateway saw a bet from its place on, that only the
 * service and the wallet act on it, that the wallet keeps the protocol, and that Redis forgets everything or
 * nothing.
 */

/** The share of all seeds that plays one of these scenes. */
export const ODD_SHARE = 0.25;

const NOT_KEYED = OPERATORS.filter((id) => !CHARACTERS[id].keyedOnRequestId);
const QUEUEING = OPERATORS.filter((id) => CHARACTERS[id].settleOnFailure === 'queue');

const at = (ms: number): Trigger => ({ kind: 'at', ms });
const faultsOf = (...faults: readonly (readonly [number, Fault])[]): readonly FaultPlan[] =>
  faults.map(([ms, fault], index) => ({ id: `x${index}`, trigger: at(ms), fault }));

function betsOf(count: number, write: (index: number) => BetPlan): readonly BetPlan[] {
  return Array.from({ length: Math.ceil(count) }, (_, index) => write(index));
}

/** Results that change, and return to earlier values; some stay unanswered. */
function results(writer: BetWriter, random: Random): void {
  const count = random.whole(2, 4);
  for (let n = 0; n < count; n += 1) {
    const pauseMs = random.chance(0.5) ? random.whole(0, 100) : random.whole(100, 700);
    if (random.chance(0.65)) writer.settle(undefined, pauseMs);
    else writer.unsettle(pauseMs);
    if (random.chance(0.3)) writer.fates.uncertain('settle', n, !writer.isKeyed);
    if (random.chance(0.3)) writer.fates.uncertain('unsettle', n, !writer.isKeyed);
  }
}

/** Bets that were placed before the gateway existed; their operator may be away for a while. */
const betsFromElsewhere: Scene = (random, steps) => {
  const operator = random.pick(QUEUEING);
  const bets = betsOf(steps / 4, (index) => {
    const isThere = random.chance(0.6);
    const writer = new BetWriter(random, index, isThere ? operator : random.pick(OPERATORS), {
      returns: true,
    });
    if (random.chance(0.3)) writer.update();
    results(writer, random);
    if (random.chance(0.3)) writer.rollback(random.chance(0.4));
    const paidBefore = random.chance(0.5) ? `${random.whole(1, 900)}.5` : undefined;
    return writer.done(random.whole(0, 600), { begins: 'elsewhere', paidBefore });
  });
  const breaker = { kind: 'breaker', operator, ms: random.whole(500, 1_500) } as const;
  return { bets, faults: random.chance(0.7) ? faultsOf([random.whole(0, 600), breaker]) : [] };
};

/** Places are delayed on the way, and their rollbacks arrive first. */
const overtakenPlaces: Scene = (random, steps) => {
  const bets = betsOf(steps / 2, (index) => {
    const writer = new BetWriter(random, index, random.pick([...OPERATORS, 'epsilon', 'zeta']));
    writer.step(
      { kind: 'place' },
      { pauseMs: random.chance(0.5) ? random.whole(0, 40) : random.whole(40, 1_800) },
    );
    if (random.chance(0.4)) writer.fates.uncertain('rollback', 0, true);
    return writer.done(random.whole(0, 400), { begins: 'overtaken' });
  });
  return { bets, faults: writeFaults(random, bets, 'one', 600).slice(0, 1) };
};

/** Bets of every kind at an operator with prefixed sessions and a wallet that speaks a dialect. */
const foreignWallet: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  for (let written = 0; written < steps; ) {
    const writer = new BetWriter(random, bets.length, 'epsilon', { returns: true });
    if (random.chance(0.25)) writer.fates.openCode('place', 0);
    const isForgotten = random.weighted(MOTIFS)(writer, random);
    const bet = writer.done(random.whole(0, 600), { isForgotten });
    bets.push(bet);
    written += bet.steps.length;
  }
  return { bets, faults: writeFaults(random, bets, 'one', 600).slice(0, 2) };
};

/** Promises become dead letters while their wallet is away, and a person retries them. */
const deadLetters: Scene = (random, steps) => {
  const operator = 'zeta';
  const bets = betsOf(steps / 4, (index) => {
    const writer = new BetWriter(random, index, operator, { returns: true });
    writer.place();
    if (random.chance(0.3)) writer.update();
    writer.settle('won', random.whole(300, 900));
    for (let n = 0; n < random.whole(0, 3); n += 1) writer.fates.uncertain('settle', n, true);
    const more = random.whole(0, 3);
    for (let n = 0; n < more; n += 1) {
      const pauseMs = random.whole(0, 1_800);
      if (random.chance(0.5)) writer.settle('won', pauseMs);
      else if (random.chance(0.7)) writer.unsettle(pauseMs);
      else writer.update();
    }
    if (random.chance(0.3)) writer.rollback(random.chance(0.4));
    return writer.done(random.whole(0, 200));
  });
  const down = { kind: 'walletDown', operator, ms: random.whole(1_000, 2_600) } as const;
  const retry = { kind: 'retry', operator } as const;
  const faults = faultsOf(
    [random.whole(250, 800), down],
    [random.whole(1_500, 3_000), retry],
    [random.whole(2_000, 4_500), retry],
  );
  return { bets, faults };
};

/**
 * A promised result gets no answer although the wallet has executed it, and one of its attempts takes effect late.
 * A person resolves it, and then another operation comes.
 */
const seenTo: Scene = (random, steps) => {
  const bets = betsOf(steps / 4, (index) => {
    const writer = new BetWriter(random, index, 'zeta');
    writer.place();
    writer.settle('won', random.whole(0, 100));
    const taken = random.whole(0, 1);
    for (let n = 0; n < 3; n += 1) writer.fates[n === taken ? 'lost' : 'late']('settle', n);
    // After the promise has become a dead letter, and before its last attempt has taken effect.
    const pauseMs = random.whole(1_700, 2_600);
    if (random.chance(0.5)) writer.unsettle(pauseMs);
    else if (random.chance(0.8)) writer.settle('won', pauseMs);
    else writer.step({ kind: 'rollback', errorCode: 50 }, { pauseMs });
    return writer.done(random.whole(0, 300), { isSeenTo: true });
  });
  return { bets, faults: [] };
};

/** Bets with results that repeat earlier ones, all begun within this time; some are rolled back. */
function endedBets(random: Random, steps: number, operator: OperatorId, withinMs: number) {
  return betsOf(steps / 4, (index) => {
    const writer = new BetWriter(random, index, operator, { returns: true });
    writer.place();
    if (random.chance(0.2)) writer.fates.uncertain('place', 0, true);
    results(writer, random);
    if (random.chance(0.3)) writer.rollback(random.chance(0.4));
    return writer.done(random.whole(0, withinMs));
  });
}

/** A person holds an operator's deliveries, may retry them, and resumes them. */
const heldByPerson: Scene = (random, steps) => {
  const operator: OperatorId = random.pick([...QUEUEING, 'zeta']);
  const bets = endedBets(random, steps, operator, 400);
  const isDown = random.chance(0.5);
  const away: Fault = isDown
    ? { kind: 'walletDown', operator, ms: random.whole(300, 1_200) }
    : { kind: random.pick(['breaker', 'suspended']), operator, ms: random.whole(300, 1_200) };
  const faults = faultsOf(
    [random.whole(0, 500), { kind: 'hold', operator, ms: random.whole(500, 2_500) }],
    [random.whole(100, 800), away],
    [random.whole(600, 2_000), { kind: 'retry', operator }],
  );
  return { bets, faults };
};

/** An operator's wallet seems to have new books, until a person says that they are the same. */
const newWallet: Scene = (random, steps) => {
  const operator = random.pick(OPERATORS);
  const bets = endedBets(random, steps, operator, 1_500);
  const change = { kind: 'newWallet', operator, ms: random.whole(100, 1_500) } as const;
  return { bets, faults: faultsOf([random.whole(0, 800), change]) };
};

/** A person looks up results that stay unanswered, since this wallet pays every repeat again. */
const lookedUp: Scene = (random, steps) => {
  const bets = betsOf(steps / 4, (index) => {
    const writer = new BetWriter(random, index, 'eta', { returns: random.chance(0.5) });
    writer.place();
    if (random.chance(0.15)) writer.fates.uncertain('place', 0, true);
    const count = random.whole(1, 3);
    for (let n = 0; n < count; n += 1) {
      const pauseMs = random.chance(0.5) ? random.whole(0, 100) : random.whole(100, 900);
      if (random.chance(0.7)) writer.settle(undefined, pauseMs);
      else writer.unsettle(pauseMs);
      if (random.chance(0.4)) writer.fates.uncertain('settle', n, false);
      if (random.chance(0.4)) writer.fates.uncertain('unsettle', n, false);
    }
    if (random.chance(0.2)) writer.rollback(random.chance(0.6));
    return writer.done(random.whole(0, 500));
  });
  const faults = writeFaults(random, bets, 'one', 900).slice(0, 1);
  if (random.chance(0.6)) return { bets, faults };
  const away = { kind: 'breaker', operator: 'eta', ms: random.whole(200, 900) } as const;
  return { bets, faults: faultsOf([random.whole(0, 900), away]) };
};

/** Results return to earlier values, at wallets that recognise repeats by the bet's state or by the `requestId`. */
const returningResults: Scene = (random, steps) => {
  const bets = betsOf(steps / 5, (index) => {
    const writer = new BetWriter(random, index, random.pick(OPERATORS), { returns: true });
    writer.place();
    results(writer, random);
    results(writer, random);
    return writer.done(random.whole(0, 500));
  });
  return { bets, faults: writeFaults(random, bets, 'one', 800).slice(0, 1) };
};

/** The service does not wait for an answer for ever: the result has changed meanwhile. */
const abandonedResults: Scene = (random, steps) => {
  const bets = betsOf(steps / 4, (index) => {
    const operator = random.pick([...NOT_KEYED, 'epsilon'] as const);
    const writer = new BetWriter(random, index, operator, { returns: true });
    writer.place();
    if (random.chance(0.7)) writer.settle('won', random.whole(0, 100));
    const count = random.whole(1, 3);
    for (let n = 0; n < count; n += 1) {
      const tries = random.whole(1, 2);
      if (random.chance(0.7)) writer.settle('won', random.whole(0, 100), tries);
      else writer.unsettle(random.whole(0, 100), tries);
    }
    for (let n = 0; n <= count; n += 1) {
      if (random.chance(n === 0 ? 0.2 : 0.8)) writer.fates.uncertain('settle', n, true);
      if (random.chance(0.6)) writer.fates.uncertain('unsettle', n, true);
    }
    writer.settle('won', random.whole(0, 100));
    if (random.chance(0.2)) writer.rollback(random.chance(0.4));
    return writer.done(random.whole(0, 400));
  });
  return { bets, faults: writeFaults(random, bets, 'one', 600).slice(0, 1) };
};

/** The player opens a session in another currency, and cashes out from there. */
const otherSessions: Scene = (random, steps) => {
  const bets = betsOf(steps / 4, (index) => {
    const operator = random.pick([...OPERATORS, 'epsilon', 'zeta'] as const);
    const writer = new BetWriter(random, index, operator);
    const alone = { twinShare: 0, replayShare: 0, pauseMs: random.whole(0, 100) };
    writer.place();
    if (random.chance(0.3)) writer.settle('won', random.whole(0, 100));
    if (random.chance(0.6)) writer.step({ kind: 'endSession' }, alone);
    writer.step({ kind: 'newSession' }, alone);
    writer.settle('cashout', random.whole(0, 100));
    if (random.chance(0.5)) writer.fates.uncertain('settle', random.whole(0, 1), false);
    if (random.chance(0.5)) {
      const pauseMs = random.whole(0, 600);
      writer.step({ kind: 'endSession' }, { ...alone, isAlongside: true, pauseMs });
    }
    if (random.chance(0.4)) writer.unsettle(random.whole(0, 200));
    return writer.done(random.whole(0, 400));
  });
  return { bets, faults: [] };
};

/** Redis is reset to its state of some seconds before, while bets go on and end. */
const oldRedis: Scene = (random, steps) => {
  const bets = betsOf(steps / 3, (index) => {
    const writer = new BetWriter(random, index, random.pick(OPERATORS));
    writer.place();
    writer.step({ kind: 'rollback', errorCode: 50 }, { pauseMs: random.whole(1_300, 1_800) });
    const bet = writer.done(random.whole(0, 100));
    const lived = bet.steps.map((step, n): Step => {
      const replay = { id: `${step.id}.c0`, kind: 'replay', via: 0 } as const;
      const copies = n === 0 ? [{ ...replay, afterMs: random.whole(3_300, 4_200) }] : [];
      return { ...step, via: 0, copies };
    });
    return { ...bet, steps: lived };
  });
  const back = { kind: 'oldRedis', ms: 2_000 } as const;
  const cut = { kind: 'postgres', process: 0, how: 'cut', ms: 1_600 } as const;
  return { bets, faults: faultsOf([random.whole(1_000, 1_100), back], [3_200, cut]) };
};

export const ODD_SCENES: readonly (readonly [weight: number, scene: Scene])[] = [
  [3, betsFromElsewhere],
  [2, overtakenPlaces],
  [3, foreignWallet],
  [4, deadLetters],
  [3, heldByPerson],
  [2, newWallet],
  [3, lookedUp],
  [3, returningResults],
  [3, abandonedResults],
  [2, otherSessions],
  [2, oldRedis],
  [3, seenTo],
];
