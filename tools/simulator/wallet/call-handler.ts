import type { ServerResponse } from 'node:http';
import type { Clock } from '../../../src/domain/clock.ts';
import { Gates } from '../gates.ts';
import { accepted, balanceAnswer, betAnswer, profileAnswer, type WireAnswer } from './answers.ts';
import { type Arrival, Arrivals } from './arrivals.ts';
import type { BetWalletCall, WalletCall } from './calls.ts';
import { Changes } from './changes.ts';
import { send, sendBadly } from './delivery.ts';
import type { Flaw, FlawedBooks } from './flaw.ts';
import { Ledger } from './ledger.ts';
import {
  type Booking,
  bookingOf,
  type Misbehaviour,
  MisbehaviourRules,
  type Subject,
} from './misbehaviour.ts';
import type { Players } from './players.ts';

export interface CallHandlerOptions {
  /** Changes an answer before it is sent. */
  readonly rewrite?: ((answer: WireAnswer, call: WalletCall) => WireAnswer) | undefined;
  readonly flaw?: Flaw | undefined;
}

/** Receives calls, holds them at gates, books them and answers them, well or badly. */
export class CallHandler {
  readonly arrivals = new Arrivals();
  readonly ledger: Ledger;
  readonly misbehaviours = new MisbehaviourRules<Misbehaviour, Subject>();
  readonly gates = new Gates<Subject>();
  readonly changes = new Changes();
  readonly #players: Players;
  readonly #clock: Clock;
  readonly #rewrite: (answer: WireAnswer, call: WalletCall) => WireAnswer;
  readonly #flaw: Flaw;
  #late: { readonly call: BetWalletCall; readonly arrival: Arrival }[] = [];

  constructor(players: Players, clock: Clock, { rewrite, flaw }: CallHandlerOptions = {}) {
    this.#players = players;
    this.#clock = clock;
    this.#rewrite = rewrite ?? ((answer) => answer);
    this.#flaw = flaw ?? (() => undefined);
    this.ledger = new Ledger(players, this.arrivals, clock);
  }

  /** Serves one call to its end. A caller that hangs up meanwhile does not change the books. */
  async serve(call: WalletCall, response: ServerResponse, path: string): Promise<void> {
    const bet = call.operation === 'profile' || call.operation === 'balance' ? undefined : call;
    const arrival = bet && this.arrivals.note(bet, this.#clock.monotonicMs());
    // Chosen on arrival: how long a gate holds a call must not change which rule applies to it.
    const misbehaviour = this.misbehaviours.take(call);
    this.changes.notify();
    const before = this.gates.pass(call, 'before');
    if (before !== undefined) await before;
    const booking = misbehaviour === undefined ? 'applied' : bookingOf(misbehaviour);
    const answer = this.#rewrite(this.#answer(call, arrival, booking), call);
    this.changes.notify();
    const after = this.gates.pass(call, 'after');
    if (after !== undefined) await after;
    if (misbehaviour === undefined) send(response, answer);
    else await sendBadly(response, misbehaviour, answer, bet?.transactionId ?? '', path);
  }

  /** Books the calls that were put off, of one bet or of all, in order of arrival. @returns how many calls */
  applyLate(transactionId?: string): number {
    const isDue = (call: BetWalletCall) =>
      transactionId === undefined || call.transactionId === transactionId;
    const due = this.#late.filter(({ call }) => isDue(call));
    this.#late = this.#late.filter(({ call }) => !isDue(call));
    for (const { call, arrival } of due) this.#book(call, arrival);
    this.changes.notify();
    return due.length;
  }

  #answer(call: WalletCall, arrival: Arrival | undefined, booking: Booking): WireAnswer {
    if (call.operation === 'profile') return profileAnswer(this.#players, call);
    if (call.operation === 'balance') return balanceAnswer(this.#players, call);
    if (arrival === undefined) throw new Error('a bet call arrives before it is answered');
    if (booking === 'applied') return this.#book(call, arrival);
    if (booking === 'later') this.#late.push({ call, arrival });
    else arrival.result = 'unbooked';
    // It only looks good: the misbehaviour decides how much of it the caller sees.
    return accepted(call.transactionId, new Date(this.#clock.nowMs()).toISOString());
  }

  readonly #booksForFlaw: FlawedBooks = {
    bet: (transactionId) => this.ledger.bets.get(transactionId),
    book: (call) => this.ledger.book(call),
    balance: (user, currency) => this.#players.balance(user, currency),
    credit: (user, currency, amount) => this.#players.credit(user, currency, amount),
    debit: (user, currency, amount) => this.#players.debit(user, currency, amount),
  };

  #book(call: BetWalletCall, arrival: Arrival): WireAnswer {
    const verdict = this.#flaw(call, this.#booksForFlaw) ?? this.ledger.book(call);
    arrival.result = verdict.kind === 'accepted' ? verdict.effect : 'declined';
    return betAnswer(call.transactionId, verdict);
  }
}
