import {
  type AttemptedResult,
  type Bet,
  type LateEffect,
  type LateOperation,
  lateAfter,
  type OpenDelivery,
} from '../../../src/domain/bet.ts';
import {
  type BetChange,
  type Conclusion,
  concludePlace,
  concludeResult,
  concludeRollback,
  concludeUpdate,
} from '../../../src/domain/conclude.ts';
import { CONFIRMATIONS, decideConfirm } from '../../../src/domain/confirm.ts';
import {
  decidePlace,
  decideRollback,
  decideSettle,
  decideUnsettle,
  decideUpdate,
  type PlaceDecision,
  type ResultDecision,
  type RollbackDecision,
  type UpdateDecision,
} from '../../../src/domain/decide.ts';
import { afterAttempt } from '../../../src/domain/delivery.ts';
import type { BetAnswer } from '../../../src/domain/wallet-answer.ts';
import { FRESH, PLACE } from './fresh-bet.ts';
import { type Fate, ModelWallet, type WalletCall } from './model-wallet.ts';
import type { Result, Told } from './told.ts';

/**
 * One bet that lives only by the domain's decisions and conclusions, one operation after another: a value takes the
 * place of PostgreSQL.
 */
export class Life {
  readonly wallet = new ModelWallet();
  readonly #queues: boolean;
  #bet: Bet | undefined;
  #calls = new Map<string, WalletCall>();
  #nextId = 0;
  #nowMs = 0;

  /** @param queues whether a first settle that does not reach the wallet is taken over */
  constructor(queues: boolean) {
    this.#queues = queues;
  }

  get bet(): Bet | undefined {
    return this.#bet;
  }

  place(fate: Fate): Told {
    const known = this.#bet;
    if (known !== undefined) return this.#known(decidePlace(known, PLACE));
    this.#bet = FRESH;
    const call: WalletCall = { operation: 'place' };
    return this.#finish(call, concludePlace(this.#call(call, fate)), { status: 400, code: 100 });
  }

  settle(result: Result, fate: Fate): Told {
    const call: WalletCall = { operation: 'settle', ...result };
    return this.#result(call, (bet) => decideSettle(bet, result), fate);
  }

  unsettle(fate: Fate): Told {
    return this.#result({ operation: 'unsettle' }, (bet) => decideUnsettle(bet, {}), fate);
  }

  rollback(fate: Fate): Told {
    const bet = this.#placed();
    const decision = decideRollback(bet);
    if (!('supersedes' in decision)) return this.#known(decision);
    const time = this.#time();
    this.#supersede(decision.supersedes);
    const call: WalletCall = { operation: 'rollback' };
    if (decision.kind === 'nothingToSend') {
      this.#change({ rollback: { kind: 'confirmed', transactionTime: time } });
      return { status: 200, time };
    }
    this.#change({ rollback: { kind: 'promised', transactionTime: time } });
    if (decision.kind === 'takeOver') return this.#promise(call, time);
    const sent = this.#call(call, fate);
    const options = { promisedTime: time, isAnswered: false };
    const conclusion = concludeRollback(bet, sent, options);
    if (conclusion.answer === undefined) this.#promise(call, time, 1);
    return this.#finish(call, conclusion, { status: 200, time });
  }

  update(key: string, fate: Fate): Told {
    const bet = this.#placed();
    const decision = decideUpdate(bet, key);
    const time = this.#time();
    if (decision.kind === 'nothingToSend') return { status: 200, time };
    if (!('supersedes' in decision)) return this.#known(decision);
    this.#supersede(decision.supersedes);
    this.#bet = { ...this.#placed(), update: { key, transactionTime: time } };
    const call: WalletCall = { operation: 'update', key };
    const sent = this.#call(call, fate);
    const told = { key, promisedTime: time, isAnswered: false, before: bet.update };
    const conclusion = concludeUpdate(sent, told);
    if (conclusion.answer === undefined) this.#promise(call, time, 1);
    return this.#finish(call, conclusion, { status: 200, time });
  }

  /** Delivers the oldest promise once. @returns whether there was one */
  bring(fate: Fate): boolean {
    const bet = this.#placed();
    const [first] = bet.deliveries;
    const call = first && this.#calls.get(first.id);
    if (first === undefined || call === undefined) return false;
    const sent = this.#call(call, fate);
    const attempted = { operation: first.operation, purpose: 'promise', isOverdue: false } as const;
    const after = afterAttempt({ ...attempted, retryInMs: 1 }, sent);
    this.#apply(call, this.#promisedConclusion(bet, call, sent, first.transactionTime));
    const rest = this.#placed().deliveries.filter(({ id }) => id !== first.id);
    const again = { ...first, attempts: first.attempts + 1 };
    const deliveries = after.kind === 'pending' ? [again, ...rest] : rest;
    this.#bet = { ...this.#placed(), deliveries };
    return true;
  }

  /** Lets the next confirmation come due. @returns whether something was sent again */
  confirm(): boolean {
    const bet = this.#placed();
    if (bet.late === undefined) return false;
    this.#nowMs += 1_000_000;
    const decision = decideConfirm(bet, { nowMs: this.#nowMs, confirmAfterMs: 1 });
    if (decision.kind === 'wait') return false;
    if (decision.kind === 'send') {
      const call = this.#calls.get(decision.operationId);
      if (call !== undefined) this.#call(call, 'ok');
    }
    const left = bet.late.confirmationsLeft - 1;
    this.#bet = {
      ...bet,
      late: left === 0 ? undefined : { ...bet.late, confirmationsLeft: left },
    };
    return true;
  }

  #result(call: WalletCall, decide: (bet: Bet) => ResultDecision, fate: Fate): Told {
    const bet = this.#placed();
    const decision = decide(bet);
    switch (decision.kind) {
      case 'takeOver':
        this.#supersede(decision.supersedes);
        return this.#promise(call, this.#time());
      case 'nothingToSend': {
        this.#supersede(decision.supersedes);
        const { settlement } = bet;
        if (settlement.kind === 'settled' && call.operation === 'settle') {
          return { status: 200, time: settlement.transactionTime };
        }
        const time = this.#time();
        this.#change({ settlement: { kind: 'unsettled', transactionTime: time } });
        return { status: 200, time };
      }
      case 'send': {
        const sent = this.#call(call, fate);
        const options = { tokenIsChecked: false, answeredTime: undefined };
        const conclusion = concludeResult(bet, attemptedBy(call), sent, options);
        const told = this.#finish(call, conclusion, { status: 503 });
        const isFirst = bet.settlement.kind === 'none' && call.operation === 'settle';
        if (conclusion.answer !== undefined || !this.#queues || !isFirst) return told;
        return this.#promise(call, this.#time(), 1);
      }
      default:
        return this.#known(decision);
    }
  }

  /** Answers that need no wallet. */
  #known(decision: PlaceDecision | ResultDecision | RollbackDecision | UpdateDecision): Told {
    switch (decision.kind) {
      case 'repeat':
        return { status: 200, time: decision.transactionTime };
      case 'repeatRefusal':
        return { status: 400, code: decision.code };
      case 'conflict':
        return { status: 400, code: 5 };
      case 'fenced':
        return { status: 400, code: 8 };
      case 'unresolved':
        return { status: 503 };
      default:
        throw new Error(`one operation after the other is never decided ${decision.kind}`);
    }
  }

  #call(call: WalletCall, fate: Fate): BetAnswer {
    this.#nowMs += 1;
    return this.wallet.take(call, fate, this.#time());
  }

  #finish(call: WalletCall, conclusion: Conclusion, open: Told): Told {
    this.#apply(call, conclusion);
    const { answer } = conclusion;
    if (answer === undefined) return open;
    if (answer.kind === 'refused') return { status: 400, code: answer.code };
    return { status: 200, time: answer.transactionTime };
  }

  #apply(call: WalletCall, { change }: Conclusion): void {
    this.#change(change);
    if (change.stands === true) {
      const id = this.#remember(call);
      this.#bet = { ...this.#placed(), standingOperationId: id };
    }
    if (change.late !== undefined) this.#mayLandLate(change.late);
  }

  #mayLandLate(operation: LateOperation): void {
    const late: LateEffect = {
      operation: lateAfter(this.#placed().late, operation),
      ...{ atMs: this.#nowMs, confirmationsLeft: CONFIRMATIONS, isConfirming: false },
    };
    this.#bet = { ...this.#placed(), late };
  }

  #change({ place, settlement, rollback, update }: BetChange): void {
    const bet = this.#placed();
    this.#bet = {
      ...bet,
      place: place ?? bet.place,
      settlement: settlement ?? bet.settlement,
      rollback: rollback ?? bet.rollback,
      update: update ?? bet.update,
    };
  }

  #promise(call: WalletCall, transactionTime: string, attempts = 0): Told {
    const { operation } = call;
    if (operation === 'place') throw new Error('a place is never promised');
    const id = this.#remember(call);
    const settle =
      operation === 'settle'
        ? { settle: { amount: call.amount, resultType: call.resultType } }
        : {};
    const delivery: OpenDelivery = {
      id,
      operationId: id,
      operation,
      attempts,
      transactionTime,
      ...settle,
    };
    const bet = this.#placed();
    this.#bet = { ...bet, deliveries: [...bet.deliveries, delivery] };
    return { status: 200, time: transactionTime };
  }

  #promisedConclusion(bet: Bet, call: WalletCall, sent: BetAnswer, time: string): Conclusion {
    switch (call.operation) {
      case 'rollback':
        return concludeRollback(bet, sent, { promisedTime: time, isAnswered: true });
      case 'update': {
        const options = { key: call.key, promisedTime: time, isAnswered: true, before: undefined };
        return concludeUpdate(sent, options);
      }
      case 'settle':
      case 'unsettle': {
        const options = { tokenIsChecked: false, answeredTime: time };
        return concludeResult(bet, attemptedBy(call), sent, options);
      }
      case 'place':
        throw new Error('a place is never promised');
    }
  }

  #remember(call: WalletCall): string {
    this.#nextId += 1;
    const id = String(this.#nextId);
    this.#calls.set(id, call);
    return id;
  }

  #supersede(ids: readonly string[]): void {
    const bet = this.#placed();
    this.#bet = { ...bet, deliveries: bet.deliveries.filter(({ id }) => !ids.includes(id)) };
  }

  #placed(): Bet {
    if (this.#bet === undefined) throw new Error('the bet was never placed');
    return this.#bet;
  }

  #time(): string {
    this.#nowMs += 1;
    return new Date(1_700_000_000_000 + this.#nowMs).toISOString();
  }
}

function attemptedBy(call: WalletCall): AttemptedResult {
  if (call.operation !== 'settle') return { kind: 'unsettle' };
  return { kind: 'settle', amount: call.amount, resultType: call.resultType };
}
