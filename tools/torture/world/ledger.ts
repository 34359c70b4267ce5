import { moneyOf } from '../money.ts';
import type { BetOperation, OperatorCharacter } from '../plan/plan.ts';

/** A call about a bet, as a wallet reads it. */
export interface WalletCall {
  readonly operation: BetOperation;
  readonly transactionId: string;
  readonly requestId: string;
  readonly user: string;
  /** Exact text. */
  readonly amount: string;
  readonly currency: string;
  readonly token: string | undefined;
  readonly resultType: string | undefined;
  readonly coefficient: string | undefined;
}

export type BookedState = 'waiting' | 'settled' | 'rolledBack' | 'tombstone';

/** What a wallet holds of one bet. */
export interface BookedBet {
  readonly user: string;
  readonly stake: bigint;
  state: BookedState;
  paid: bigint;
  result: string | undefined;
  coefficient: string | undefined;
  /** The answers of executed operations, by what identifies a repeat. */
  readonly answers: Map<string, WalletAnswer>;
}

export type WalletAnswer =
  | { readonly ok: true; readonly time: string }
  | { readonly ok: false; readonly code: number; readonly message: string };

const refuse = (code: number, message: string): WalletAnswer => ({ ok: false, code, message });

/** The books of a wallet that keeps the protocol; wallets differ in how they recognise repeats and rollbacks. */
export class Ledger {
  readonly #character: OperatorCharacter;
  readonly #balances = new Map<string, bigint>();
  readonly #tokens = new Map<string, string>();
  readonly #ended = new Set<string>();
  readonly bets = new Map<string, BookedBet>();
  /** Settles that are always refused: code by bet and amount. */
  readonly #refused = new Map<string, number>();

  constructor(character: OperatorCharacter) {
    this.#character = character;
  }

  addPlayer(user: string, token: string, balance: string): void {
    this.#balances.set(user, moneyOf(balance));
    this.#tokens.set(token, user);
  }

  /** @returns the player to whom the token belongs */
  userOf(token: string): string | undefined {
    return this.#tokens.get(token);
  }

  refuseSettle(transactionId: string, amount: string, code: number): void {
    this.#refused.set(`${transactionId} ${amount}`, code);
  }

  /** Ends a token: bets that were placed with it go on. */
  endToken(token: string): void {
    this.#ended.add(token);
  }

  balance(user: string): bigint {
    return this.#balances.get(user) ?? 0n;
  }

  book(call: WalletCall): WalletAnswer {
    const bet = this.bets.get(call.transactionId);
    if (call.operation === 'place') return this.#place(call, bet);
    if (call.operation === 'rollback') return this.#rollback(call, bet);
    if (call.operation === 'update') return this.#update(call, bet);
    if (bet === undefined) return refuse(5, 'no such bet');
    if (bet.user !== call.user) return refuse(5, 'not the player of this bet');
    const known = this.#known(call, bet);
    if (known !== undefined) return known;
    if (bet.state === 'rolledBack' || bet.state === 'tombstone') return refuse(5, 'rolled back');
    return call.operation === 'settle' ? this.#settle(call, bet) : this.#unsettle(call, bet);
  }

  #place(call: WalletCall, bet: BookedBet | undefined): WalletAnswer {
    if (bet !== undefined) {
      if (bet.state === 'rolledBack' || bet.state === 'tombstone') return refuse(8, 'processed');
      return bet.answers.get('place') ?? refuse(5, 'taken by another bet');
    }
    if (call.token === undefined || this.#tokens.get(call.token) !== call.user) {
      return refuse(3, 'invalid token');
    }
    const stake = moneyOf(call.amount);
    if (this.balance(call.user) < stake) return refuse(7, 'not enough money');
    this.#move(call.user, -stake);
    const booked = this.#open(call, stake, 'waiting');
    booked.coefficient = call.coefficient;
    return this.#done('place', booked);
  }

  #settle(call: WalletCall, bet: BookedBet): WalletAnswer {
    const code = this.#refused.get(`${call.transactionId} ${call.amount}`);
    if (code !== undefined) return refuse(code, 'recalculation is blocked');
    if (call.resultType === 'cashout') {
      const { token = '' } = call;
      const isTheirs = this.#tokens.get(token) === call.user;
      if (!isTheirs || this.#ended.has(token)) return refuse(3, 'invalid token');
    }
    const amount = moneyOf(call.amount);
    const same = bet.state === 'settled' && bet.result === call.resultType && bet.paid === amount;
    // A wallet keyed on the `requestId` pays the same result a second time.
    const before = same && this.#character.keyedOnRequestId ? 0n : bet.paid;
    this.#move(bet.user, amount - before);
    bet.paid += amount - before;
    bet.state = 'settled';
    bet.result = call.resultType;
    return this.#done(this.#keyOf(call), bet);
  }

  #unsettle(call: WalletCall, bet: BookedBet): WalletAnswer {
    this.#move(bet.user, -bet.paid);
    bet.paid = 0n;
    bet.state = 'waiting';
    bet.result = undefined;
    return this.#done(this.#keyOf(call), bet);
  }

  #rollback(call: WalletCall, bet: BookedBet | undefined): WalletAnswer {
    if (bet === undefined) {
      if (!this.#character.tombstones) return { ok: true, time: now() };
      return this.#done('rollback', this.#open(call, 0n, 'tombstone'));
    }
    const known = bet.answers.get('rollback');
    if (known !== undefined) return known;
    this.#move(bet.user, bet.stake - bet.paid);
    bet.paid = 0n;
    bet.state = 'rolledBack';
    return this.#done('rollback', bet);
  }

  #update(call: WalletCall, bet: BookedBet | undefined): WalletAnswer {
    if (bet !== undefined) bet.coefficient = call.coefficient;
    return { ok: true, time: now() };
  }

  /** The answer that the same call got before. */
  #known(call: WalletCall, bet: BookedBet): WalletAnswer | undefined {
    if (this.#character.keyedOnRequestId) return bet.answers.get(this.#keyOf(call));
    const isKept =
      call.operation === 'settle'
        ? bet.state === 'settled' &&
          bet.result === call.resultType &&
          bet.paid === moneyOf(call.amount)
        : bet.state === 'waiting' && bet.answers.has('unsettle');
    return isKept ? bet.answers.get(this.#keyOf(call)) : undefined;
  }

  #keyOf(call: WalletCall): string {
    if (this.#character.keyedOnRequestId) return `request ${call.requestId}`;
    if (call.operation !== 'settle') return call.operation;
    return `settle ${moneyOf(call.amount)} ${call.resultType}`;
  }

  #open(
    call: Pick<WalletCall, 'transactionId' | 'user'>,
    stake: bigint,
    state: BookedState,
  ): BookedBet {
    const bet: BookedBet = {
      user: call.user,
      stake,
      state,
      paid: 0n,
      result: undefined,
      coefficient: undefined,
      answers: new Map(),
    };
    this.bets.set(call.transactionId, bet);
    return bet;
  }

  #done(key: string, bet: BookedBet): WalletAnswer {
    const answer: WalletAnswer = { ok: true, time: now() };
    bet.answers.set(key, answer);
    return answer;
  }

  #move(user: string, amount: bigint): void {
    this.#balances.set(user, this.balance(user) + amount);
  }
}

function now(): string {
  return new Date().toISOString();
}
