import { canonicalAmount, sameAmount, subtractAmounts } from '../domain/amount.ts';
import type { BetSlip } from '../protocol/callback-bodies.ts';
import { describeExchange } from './answer-meaning.ts';
import type { Caller, CertifiedPlayer, Odd, Result } from './caller.ts';
import type { CaseResult } from './certificate.ts';
import { Judgement } from './judgement.ts';
import { amountIn } from './money.ts';
import type { Sighting } from './recorded-call.ts';

/** The case cannot be tried; the message says why. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** The case cannot be judged, because the wallet does not tell the player's balance. */
export class NoBalance extends Error {
  override readonly name = 'NoBalance';
}

/** Limits of one call's latency, milliseconds. */
export interface LatencyLimits {
  readonly warnMs: number;
  readonly failMs: number;
}

interface OpenBet {
  readonly slip: BetSlip;
  /** The payout that stands as far as we know; undefined while there is no result. */
  payout: string | undefined;
}

export interface TrialContext {
  readonly caller: Caller;
  /** Another player of the same wallet, where one was named. */
  readonly other: { readonly userId: string; readonly token: string } | undefined;
  /** Currencies of the operator's file. */
  readonly currencies: readonly string[];
  readonly secret: string;
  readonly latency: LatencyLimits;
  /** Every call of the run so far, this case's included. */
  readonly record: Sighting[];
}

/** One case under way: its calls, its expectations, the money it has on the table. */
export class Trial extends Judgement {
  readonly #context: TrialContext;
  readonly sightings: Sighting[] = [];
  readonly #bets = new Map<string, OpenBet>();
  #opening: string | undefined;
  #closing: string | undefined;
  #booksWrong = false;

  constructor(context: TrialContext) {
    super();
    this.#context = context;
  }

  get player(): CertifiedPlayer {
    return this.#context.caller.player;
  }
  get context(): TrialContext {
    return this.#context;
  }
  /** Whether money moved otherwise than it should. */
  get booksWrong(): boolean {
    return this.#booksWrong;
  }
  get books(): CaseResult['balance'] {
    if (this.#opening === undefined || this.#closing === undefined) return undefined;
    return { before: this.#opening, after: this.#closing };
  }

  slip(changes: Partial<BetSlip> = {}): BetSlip {
    return this.#context.caller.slip(changes);
  }

  async profile(token?: string, odd?: Odd): Promise<Sighting> {
    return this.#note(await this.#context.caller.profile(token, odd));
  }

  async balance(changes?: Partial<CertifiedPlayer>, odd?: Odd): Promise<Sighting> {
    return this.#note(await this.#context.caller.balance(changes, odd));
  }

  /** A bet that the wallet has, or may have, is rolled back when the case is over. */
  async place(slip: BetSlip, odd?: Odd): Promise<Sighting> {
    const sighting = this.#note(await this.#context.caller.place(slip, odd));
    const isNew = !this.#bets.has(slip.transactionId);
    if (isNew && sighting.meaning.kind !== 'refused') {
      this.#bets.set(slip.transactionId, { slip, payout: undefined });
    }
    return sighting;
  }

  /** Places a bet that the case needs; @returns its slip */
  async placed(changes: Partial<BetSlip> = {}): Promise<BetSlip> {
    const slip = this.slip(changes);
    this.accepts(await this.place(slip));
    return slip;
  }

  async settle(slip: BetSlip, result: Result, odd?: Odd): Promise<Sighting> {
    const sighting = this.#note(await this.#context.caller.settle(slip, result, odd));
    const bet = this.#bets.get(slip.transactionId);
    if (bet !== undefined && sighting.meaning.kind !== 'refused') bet.payout = result.amount;
    return sighting;
  }

  /**
   * Gives back a stake that is too large to be left to a rollback, which the wallet may not keep:
   * later cases need the money.
   */
  async giveBack(slip: BetSlip): Promise<void> {
    const bet = this.#bets.get(slip.transactionId);
    if (bet === undefined) return;
    const refund = { amount: slip.amount, resultType: 'refund' } as const;
    const { caller } = this.#context;
    const { meaning } = this.#note(await caller.settle(slip, refund, { isCleanUp: true }));
    if (meaning.kind === 'accepted') this.#bets.delete(slip.transactionId);
  }

  /** How the gateway would repeat a call: under a new requestId, or with `stableRequestId` not. */
  repeatOf({ call }: Sighting): Odd {
    const { stableRequestId } = this.#context.caller.line.adapter.callerDialect;
    return stableRequestId ? { requestId: call.call.requestId } : {};
  }

  /** Settles as won. */
  won(slip: BetSlip, amount: string, odd?: Odd): Promise<Sighting> {
    return this.settle(slip, { amount, resultType: 'won' }, odd);
  }

  lost(slip: BetSlip, odd?: Odd): Promise<Sighting> {
    return this.settle(slip, { amount: '0', resultType: 'lost' }, odd);
  }

  async unsettle(slip: BetSlip, amount: string, odd?: Odd): Promise<Sighting> {
    const sighting = this.#note(await this.#context.caller.unsettle(slip, amount, odd));
    const bet = this.#bets.get(slip.transactionId);
    if (bet !== undefined && sighting.meaning.kind === 'accepted') bet.payout = undefined;
    return sighting;
  }

  async rollback(slip: BetSlip, errorCode?: number, odd?: Odd): Promise<Sighting> {
    const sighting = this.#note(await this.#context.caller.rollback(slip, errorCode, odd));
    if (sighting.meaning.kind === 'accepted' && odd?.tamper === undefined) {
      this.#bets.delete(slip.transactionId);
    }
    return sighting;
  }

  async update(slip: BetSlip, coefficient: string, odd?: Odd): Promise<Sighting> {
    return this.#note(await this.#context.caller.update(slip, coefficient, odd));
  }

  /** Reads the balance from which movements are counted. @throws NoBalance */
  async open(): Promise<string> {
    this.#opening = await this.money();
    return this.#opening;
  }

  /** The player's money now, canonical decimal text. @throws NoBalance */
  async money(): Promise<string> {
    const sighting = await this.balance();
    sighting.wanted = { kind: 'success' };
    const amount = amountIn(sighting.meaning);
    if (amount === undefined) {
      throw new NoBalance(`the balance cannot be read: ${describeExchange(sighting.exchange)}`);
    }
    this.#closing = canonicalAmount(amount);
    return this.#closing;
  }

  /**
   * Checks what the case has moved so far.
   * @param amount decimal text, negative where the player paid
   */
  async moved(amount: string, what: string): Promise<boolean> {
    const opening = this.#opening ?? (await this.open());
    const seen = subtractAmounts(await this.money(), opening);
    if (sameAmount(seen, amount)) return true;
    this.#booksWrong = true;
    const should = sameAmount(amount, '0') ? 'must not move' : `must move by ${amount}`;
    this.fail(`${what}: the balance ${should}, it moved by ${seen}`);
    return false;
  }

  async movedNothing(what: string): Promise<boolean> {
    return await this.moved('0', what);
  }

  /** Gives back what is still on the table. Says nothing of the wallet: cases for that exist. */
  async cleanUp(): Promise<void> {
    const { caller } = this.#context;
    const odd = { isCleanUp: true };
    const calls = [...this.#bets.values()].map(async ({ slip, payout }) => {
      if (payout !== undefined) await caller.unsettle(slip, payout, odd);
      await caller.rollback(slip, 50, odd);
    });
    await Promise.all(calls);
    this.#bets.clear();
  }

  #note(sighting: Sighting): Sighting {
    this.sightings.push(sighting);
    this.#context.record.push(sighting);
    return sighting;
  }
}
