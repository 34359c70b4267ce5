import { setTimeout as pause } from 'node:timers/promises';
import { canonicalAmount, sameAmount, subtractAmounts } from '../../domain/amount.ts';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import type { CertifiedPlayer, Odd, Result } from '../calls/caller.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import type { CaseResult } from '../certificate/certificate.ts';
import { fabricatedLike } from './fabricated-ids.ts';
import type { FailureMeaning } from './failure-meaning.ts';
import { Judgement } from './judgement.ts';
import { amountIn, inCoins, isDust, mayHavePaid } from './money.ts';
import { OpenBets } from './open-bets.ts';
import { NoBalance, type TrialContext } from './trial-context.ts';

/** A bet has fewer operations; more calls would only repeat the same. */
const EXHIBIT_CALLS_MAX = 6;

/** One running case: its calls, its expectations, and the money in its open bets. */
export class Trial extends Judgement {
  readonly context: TrialContext;
  readonly recordedCalls: RecordedCall[] = [];
  readonly #exhibits: RecordedCall[] = [];
  readonly #bets = new OpenBets();
  #opening: string | undefined;
  #closing: string | undefined;
  #booksWrong = false;
  #moneySeenToMove = false;

  constructor(context: TrialContext, usualMeaning: FailureMeaning) {
    super(usualMeaning);
    this.context = context;
  }

  /** Adds a call of another case that shows what this one found, with the other calls of its bet. */
  exhibit(recorded: RecordedCall): void {
    const { call } = recorded;
    const isOfBet = (other: RecordedCall) =>
      other === recorded ||
      (call.kind === 'bet' &&
        other.call.kind === 'bet' &&
        other.call.call.transactionId === call.call.transactionId);
    this.#exhibits.push(...this.context.record.filter(isOfBet).slice(0, EXHIBIT_CALLS_MAX));
  }

  /** What the report shows: the case's own calls, or those of other cases that it judged. */
  get shown(): readonly RecordedCall[] {
    return this.#exhibits.length > 0 ? this.#exhibits : this.recordedCalls;
  }

  get player(): CertifiedPlayer {
    return this.context.caller.player;
  }
  /** Whether money moved wrongly. */
  get booksWrong(): boolean {
    return this.#booksWrong;
  }
  /** Whether money moved, and moved correctly. */
  get booksProven(): boolean {
    return this.#moneySeenToMove && !this.#booksWrong;
  }
  get books(): CaseResult['balance'] {
    if (this.#opening === undefined || this.#closing === undefined) return null;
    return { before: this.#opening, after: this.#closing };
  }

  /** A token that looks like the player's, but was never issued. */
  unknownToken(): string {
    const { other } = this.context;
    return fabricatedLike(this.player.token, other === undefined ? [] : [other.token]);
  }

  /** The other player's id; if none was named, an invented one that looks like the player's. */
  stranger(): string {
    return this.context.other?.userId ?? fabricatedLike(this.player.userId);
  }

  slip(changes: Partial<BetSlip> = {}): BetSlip {
    return this.context.caller.slip(changes);
  }

  async profile(token?: string, odd?: Odd): Promise<RecordedCall> {
    return this.#note(await this.context.caller.profile(token, odd));
  }

  async balance(changes?: Partial<CertifiedPlayer>, odd?: Odd): Promise<RecordedCall> {
    return this.#note(await this.context.caller.balance(changes, odd));
  }

  /** Places a bet, rolled back when the case ends unless a refusal by the protocol proves that nothing was debited. */
  async place(slip: BetSlip, odd?: Odd): Promise<RecordedCall> {
    const recorded = this.#note(await this.context.caller.place(slip, odd));
    const isNew = !this.#bets.has(slip);
    if (isNew && recorded.readingByProtocol.kind !== 'declined') this.#bets.add(slip);
    return recorded;
  }

  /** Places a bet that the case needs; @returns its slip */
  async placed(changes: Partial<BetSlip> = {}): Promise<BetSlip> {
    const slip = this.slip(changes);
    this.accepts(await this.place(slip));
    return slip;
  }

  async settle(slip: BetSlip, result: Result, odd?: Odd): Promise<RecordedCall> {
    const recorded = this.#note(await this.context.caller.settle(slip, result, odd));
    if (mayHavePaid(recorded.answer)) this.#bets.paid(slip, result.amount);
    return recorded;
  }

  /** Gives back a stake that later cases need, and that a wallet may keep after a rollback. */
  async giveBack(slip: BetSlip): Promise<void> {
    if (!this.#bets.has(slip)) return;
    const refund = { amount: slip.amount, resultType: 'refund' } as const;
    const { caller } = this.context;
    const { answer } = this.#note(await caller.settle(slip, refund, { isCleanUp: true }));
    if (answer.kind === 'accepted') this.#bets.delete(slip);
  }

  /** A cashout; default token: the player's own. */
  cashedOut(
    slip: BetSlip,
    amount: string,
    token: string = this.player.token,
    odd?: Odd,
  ): Promise<RecordedCall> {
    return this.settle(slip, { amount, resultType: 'cashout', token }, odd);
  }

  /** How the gateway would repeat a call: with a new requestId, or under `stableRequestId` with the same one. */
  repeatOf({ call }: RecordedCall): Odd {
    const { stableRequestId } = this.context.caller.connection.adapter.callerDialect;
    return stableRequestId ? { requestId: call.call.requestId } : {};
  }

  won(slip: BetSlip, amount: string, odd?: Odd): Promise<RecordedCall> {
    return this.settle(slip, { amount, resultType: 'won' }, odd);
  }

  lost(slip: BetSlip, odd?: Odd): Promise<RecordedCall> {
    return this.settle(slip, { amount: '0', resultType: 'lost' }, odd);
  }

  /** A refund of the whole stake. */
  refunded(slip: BetSlip, odd?: Odd): Promise<RecordedCall> {
    return this.settle(slip, { amount: slip.amount, resultType: 'refund' }, odd);
  }

  /** Waits before a late repeat. @throws if the run is stopped meanwhile */
  async later(): Promise<void> {
    const { lateMs, signal } = this.context;
    await pause(lateMs, undefined, { signal });
  }

  async unsettle(slip: BetSlip, amount: string, odd?: Odd): Promise<RecordedCall> {
    const recorded = this.#note(await this.context.caller.unsettle(slip, amount, odd));
    if (recorded.answer.kind === 'accepted') this.#bets.paid(slip, undefined);
    return recorded;
  }

  async rollback(slip: BetSlip, errorCode?: number, odd?: Odd): Promise<RecordedCall> {
    const recorded = this.#note(await this.context.caller.rollback(slip, errorCode, odd));
    if (recorded.answer.kind === 'accepted' && odd?.forgery === undefined) this.#bets.delete(slip);
    return recorded;
  }

  async update(slip: BetSlip, coefficient: string, odd?: Odd): Promise<RecordedCall> {
    return this.#note(await this.context.caller.update(slip, coefficient, odd));
  }

  /** Reads the balance from which movements are counted. @throws NoBalance */
  async open(): Promise<string> {
    this.#opening = await this.money();
    return this.#opening;
  }

  /** The player's money now, canonical decimal text. @throws NoBalance */
  async money(): Promise<string> {
    const recorded = await this.balance();
    recorded.wanted = { kind: 'success' };
    const amount = amountIn(recorded.answer);
    if (amount === undefined) {
      throw new NoBalance(`the balance cannot be read: ${describeExchange(recorded.exchange)}`);
    }
    this.#closing = canonicalAmount(amount);
    return this.#closing;
  }

  /**
   * Checks what the case has moved so far; below half of the smallest coin it only warns.
   * @param amount decimal text, negative if the player paid
   */
  async moved(amount: string, what: string): Promise<boolean> {
    const opening = this.#opening ?? (await this.open());
    const seen = subtractAmounts(await this.money(), opening);
    if (sameAmount(seen, amount)) {
      this.#moneySeenToMove ||= !sameAmount(amount, '0');
      return true;
    }
    const should = sameAmount(amount, '0') ? 'must not move' : `must move by ${amount}`;
    const difference = `${what}: the balance ${should}, it moved by ${seen}${inCoins(seen, amount)}`;
    if (isDust(subtractAmounts(seen, amount), this.player.currency)) {
      this.warn(`${difference}, less than half of the smallest coin off`, 'cosmetic');
      return true;
    }
    this.#booksWrong = true;
    const isRight = async () => sameAmount(subtractAmounts(await this.money(), opening), amount);
    this.fail(`${difference}${await this.context.lag.remark(() => this.later(), isRight)}`);
    return false;
  }

  /** The other player's money now; undefined if there is no other player, or it is unknown. */
  async theirMoney(): Promise<string | undefined> {
    const { other } = this.context;
    if (other === undefined) return undefined;
    const amount = amountIn((await this.balance({ ...this.player, ...other })).answer);
    return amount === undefined ? undefined : canonicalAmount(amount);
  }

  /** Checks that the other player's money has not changed. */
  async theirsUnmoved(before: string | undefined, what: string): Promise<void> {
    await this.theirsMoved(before, '0', what, 'lets_somebody_in');
  }

  /** Checks that the other player's money has changed by this amount. */
  async theirsMoved(
    before: string | undefined,
    amount: string,
    what: string,
    meaning?: FailureMeaning,
  ): Promise<void> {
    if (before === undefined) return;
    const after = await this.theirMoney();
    if (after === undefined) return;
    const seen = subtractAmounts(after, before);
    if (sameAmount(seen, amount)) return;
    this.#booksWrong = true;
    this.fail(`${what}: the other player's balance moved by ${seen}`, meaning);
  }

  async movedNothing(what: string): Promise<boolean> {
    return await this.moved('0', what);
  }

  /** Gives back the money of open bets. */
  cleanUp(): Promise<void> {
    return this.#bets.giveBack(this.context.caller);
  }

  #note(recorded: RecordedCall): RecordedCall {
    this.recordedCalls.push(recorded);
    this.context.record.push(recorded);
    return recorded;
  }
}
