import {
  addAmounts,
  compareAmounts,
  sameAmount,
  subtractAmounts,
} from '../../../src/domain/amount.ts';
import type { Clock } from '../../../src/domain/clock.ts';
import type { BetOperation } from '../../../src/domain/operation.ts';
import { unreachable } from '../../../src/domain/unreachable.ts';
import type { Arrival, Arrivals, Effect } from './arrivals.ts';
import type {
  BetWalletCall,
  Coefficients,
  PlaceCall,
  ResultType,
  RollbackCall,
  SettleCall,
  UnsettleCall,
  UpdateCall,
} from './calls.ts';
import type { Players } from './players.ts';

/** `waiting`: stake taken, no result yet. `tombstone`: a rollback of an unknown bet came. */
export type WalletBetStatus = 'waiting' | 'settled' | 'rolled_back' | 'tombstone';

export interface WalletBet {
  readonly transactionId: string;
  readonly user: string;
  readonly currency: string;
  /** Decimal text; `0` for a tombstone. */
  readonly stake: string;
  readonly status: WalletBetStatus;
  /** The current payout; `0` unless settled with one. */
  readonly paid: string;
  readonly resultType: ResultType | undefined;
  readonly coefficients: Coefficients | undefined;
  /** The answer of every applied operation, so that a repeat gets the same one. */
  readonly times: Readonly<Partial<Record<BetOperation, string>>>;
  /** Every call about this bet, in order of arrival; it grows as more arrive. */
  readonly history: readonly Arrival[];
}

export type Verdict =
  | { readonly kind: 'accepted'; readonly transactionTime: string; readonly effect: Effect }
  | { readonly kind: 'declined'; readonly code: number; readonly message: string };

/** A wallet that keeps the protocol: every operation may arrive twice or in the wrong order, and counts once. */
export class Ledger {
  readonly #players: Players;
  readonly #arrivals: Arrivals;
  readonly #clock: Clock;
  readonly #bets = new Map<string, WalletBet>();

  constructor(players: Players, arrivals: Arrivals, clock: Clock) {
    this.#players = players;
    this.#arrivals = arrivals;
    this.#clock = clock;
  }

  get bets(): ReadonlyMap<string, WalletBet> {
    return this.#bets;
  }

  book(call: BetWalletCall): Verdict {
    switch (call.operation) {
      case 'place':
        return this.#place(call);
      case 'settle':
        return this.#settle(call);
      case 'unsettle':
        return this.#unsettle(call);
      case 'rollback':
        return this.#rollback(call);
      case 'update':
        return this.#update(call);
    }
    return unreachable(call);
  }

  #place(call: PlaceCall): Verdict {
    // The bet is looked up before the token: a repeat may arrive when the session has ended.
    const known = this.#bets.get(call.transactionId);
    if (known !== undefined) return placedAgain(known, call);
    const holder = this.#players.token(call.token);
    if (holder.kind === 'expired') return declined(4, 'Token is out of date');
    if (holder.kind !== 'live' || !holds(holder, call)) return declined(3, 'Invalid token');
    if (compareAmounts(this.#players.balance(holder.user, call.currency), call.amount) < 0) {
      return declined(7, 'Not enough money');
    }
    this.#players.debit(holder.user, call.currency, call.amount);
    return this.#write('place', {
      transactionId: call.transactionId,
      user: holder.user,
      currency: call.currency,
      stake: call.amount,
      status: 'waiting',
      paid: '0',
      resultType: undefined,
      coefficients: call.coefficients,
      times: {},
      history: this.#arrivals.of(call.transactionId),
    });
  }

  #settle(call: SettleCall): Verdict {
    const bet = this.#bets.get(call.transactionId);
    const refusal = cannotHaveResult(bet, call);
    if (bet === undefined || refusal !== undefined) return refusal ?? noSuchBet();
    const settled = bet.status === 'settled';
    if (settled && sameAmount(bet.paid, call.amount) && bet.resultType === call.resultType) {
      return repeated(bet, 'settle');
    }
    const unauthorised = this.#cashoutRefusal(call);
    if (unauthorised !== undefined) return unauthorised;
    this.#takeBackPayout(bet);
    this.#players.credit(bet.user, bet.currency, call.amount);
    const { resultType, amount: paid } = call;
    return this.#write('settle', { ...bet, status: 'settled', paid, resultType });
  }

  /** Only a cashout is the player's own wish and needs a token, of any of the player's sessions. */
  #cashoutRefusal(call: SettleCall): Verdict | undefined {
    if (call.resultType !== 'cashout') return undefined;
    const holder = this.#players.token(call.token);
    if (holder.kind === 'expired') return declined(4, 'Token is out of date');
    if (holder.kind !== 'live' || holder.user !== call.userId) return declined(3, 'Invalid token');
    return undefined;
  }

  #unsettle(call: UnsettleCall): Verdict {
    const bet = this.#bets.get(call.transactionId);
    const refusal = cannotHaveResult(bet, call);
    if (bet === undefined || refusal !== undefined) return refusal ?? noSuchBet();
    if (bet.status === 'waiting') {
      return bet.times.unsettle === undefined ? this.#nothingToDo() : repeated(bet, 'unsettle');
    }
    this.#takeBackPayout(bet);
    return this.#write('unsettle', {
      ...bet,
      status: 'waiting',
      paid: '0',
      resultType: undefined,
    });
  }

  #rollback(call: RollbackCall): Verdict {
    const bet = this.#bets.get(call.transactionId);
    if (bet === undefined) return this.#entomb(call);
    if (bet.user !== call.userId) return notTheirs();
    if (bet.status === 'rolled_back' || bet.status === 'tombstone')
      return repeated(bet, 'rollback');
    this.#takeBackPayout(bet);
    this.#players.credit(bet.user, bet.currency, bet.stake);
    return this.#write('rollback', { ...bet, status: 'rolled_back', paid: '0' });
  }

  #entomb(call: RollbackCall): Verdict {
    const verdict = this.#write('rollback', {
      transactionId: call.transactionId,
      user: call.userId,
      currency: call.currency,
      stake: '0',
      status: 'tombstone',
      paid: '0',
      resultType: undefined,
      coefficients: undefined,
      times: {},
      history: this.#arrivals.of(call.transactionId),
    });
    return { ...verdict, effect: 'nothing' };
  }

  #update(call: UpdateCall): Verdict {
    const bet = this.#bets.get(call.transactionId);
    if (bet === undefined || bet.status === 'tombstone') return this.#nothingToDo();
    if (bet.user !== call.userId) return notTheirs();
    if (JSON.stringify(bet.coefficients) === JSON.stringify(call.coefficients)) {
      return repeated(bet, bet.times.update === undefined ? 'place' : 'update');
    }
    return this.#write('update', { ...bet, coefficients: call.coefficients });
  }

  #takeBackPayout(bet: WalletBet): void {
    this.#players.debit(bet.user, bet.currency, bet.paid);
  }

  #write(operation: BetOperation, bet: WalletBet) {
    const transactionTime = this.#now();
    const times = { ...bet.times, [operation]: transactionTime };
    this.#bets.set(bet.transactionId, { ...bet, times });
    return { kind: 'accepted', transactionTime, effect: 'applied' } as const;
  }

  #nothingToDo(): Verdict {
    return { kind: 'accepted', transactionTime: this.#now(), effect: 'nothing' };
  }

  #now(): string {
    return new Date(this.#clock.nowMs()).toISOString();
  }
}

/** What a bet moved on the player's balance in all: `0`, or minus the stake plus the payout. */
export function netOf(bet: WalletBet): string {
  if (bet.status === 'rolled_back' || bet.status === 'tombstone') return '0';
  return subtractAmounts(addAmounts('0', bet.paid), bet.stake);
}

function placedAgain(bet: WalletBet, call: PlaceCall): Verdict {
  if (bet.status === 'rolled_back' || bet.status === 'tombstone') {
    return declined(8, 'The bet has already been processed');
  }
  const same =
    sameAmount(bet.stake, call.amount) &&
    bet.currency === call.currency &&
    bet.user === call.userId;
  return same ? repeated(bet, 'place') : declined(5, 'transactionId is taken by another bet');
}

function cannotHaveResult(
  bet: WalletBet | undefined,
  call: SettleCall | UnsettleCall,
): Verdict | undefined {
  if (bet === undefined) return noSuchBet();
  if (bet.user !== call.userId) return notTheirs();
  if (bet.status === 'rolled_back' || bet.status === 'tombstone') {
    return declined(5, 'The bet was rolled back');
  }
  return undefined;
}

function holds(holder: { user: string; currency: string }, call: PlaceCall): boolean {
  return holder.user === call.userId && holder.currency === call.currency;
}

function repeated(bet: WalletBet, operation: BetOperation): Verdict {
  const transactionTime = bet.times[operation];
  if (transactionTime === undefined) throw new Error(`${operation} was never applied`);
  return { kind: 'accepted', transactionTime, effect: 'repeated' };
}

function declined(code: number, message: string): Verdict {
  return { kind: 'declined', code, message };
}

const noSuchBet = () => declined(5, 'transactionId is not known');
const notTheirs = () => declined(5, 'userId is not the one of the bet');
