import { randomUUID } from 'node:crypto';
import type { BetOperation } from '../../src/domain/operation.ts';
import {
  type BetSlip,
  balanceBody,
  placeBody,
  profileBody,
  type RawFields,
  rollbackBody,
  settleBody,
  unsettleBody,
  updateBody,
} from '../../src/protocol/callback-bodies.ts';
import { type RetryOptions, sendUntil } from './retry.ts';
import {
  amountIn,
  codeOf,
  confirms,
  type OperationOutcome,
  type PlaceOutcome,
} from './service-answers.ts';
import { Beliefs, type ServiceBooks } from './service-books.ts';
import { type CallOptions, type CallResult, SignedClient } from './signed-client.ts';
import type { ResultType } from './wallet/calls.ts';

export interface ServiceOptions {
  /** `{partner_api_url}`: the gateway's public address. */
  readonly baseUrl: string;
  readonly secret: string;
  /** How long the service waits for any answer; default 5000. */
  readonly timeoutMs?: number;
  /** Multiplies the intervals between repeats; default 1, which makes six minutes in all. */
  readonly retryScale?: number;
  readonly connectionsMax?: number;
  /** Where bonuses are kept; it is told about every accepted bet with a bonus. */
  readonly bonusApi?: { useBonus(bonusId: number): unknown };
}

/** A player as the service knows one from a profile. */
export interface ServicePlayer {
  readonly token: string;
  readonly userId: string;
  readonly currency: string;
}

export interface PlaceRequest extends ServicePlayer {
  /** Stake, decimal text. */
  readonly amount: string;
  readonly transactionId?: string;
  /** Odds, decimal text; default `1.2`. */
  readonly coefficient?: string;
  readonly bonusId?: number | null;
  readonly bonusTemplateId?: number | null;
}

const BET_PATH = '/payment/bet';
const SYSTEM_ERROR = 100;
const ALREADY_PROCESSED = 8;
/** Rollback errorCodes (service protocol, Events). */
const TIMED_OUT = 10;
const CLOSING_FAILED = 50;
const PARTNER_FAILED = 52;

export function createService(options: ServiceOptions): SimulatedService {
  return new SimulatedService(options);
}

/** The betting service as its partner sees it: signed callbacks, time limits, repeats. */
export class SimulatedService {
  readonly #client: SignedClient;
  readonly #beliefs = new Beliefs();
  readonly #slips = new Map<string, BetSlip>();
  readonly #placed = new Set<string>();
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();
  readonly #retry: RetryOptions;
  readonly #bonusApi: ServiceOptions['bonusApi'];

  /** Use `createService`. */
  constructor(options: ServiceOptions) {
    this.#client = new SignedClient(options);
    this.#retry = { scale: options.retryScale ?? 1, signal: this.#closing.signal };
    this.#bonusApi = options.bonusApi;
  }

  /** One raw call that is neither repeated nor recorded, for anything that a test wants to send. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH',
    path: string,
    body: string | Buffer | object,
    options: CallOptions = {},
  ): Promise<CallResult> {
    return this.#client.call(method, path, body, options);
  }

  /** Opens the frame. @returns the answer, and the player if it was good */
  async profile(token: string): Promise<CallResult & { readonly player?: ServicePlayer }> {
    const result = await this.call('POST', '/user/profile', profileBody(token));
    const { userId, currency } = result.json ?? {};
    const isGood =
      result.status === 200 && typeof userId === 'string' && typeof currency === 'string';
    return isGood ? { ...result, player: { token, userId, currency } } : result;
  }

  /** @returns the answer, and the exact text of the amount if it was good */
  async balance(player: ServicePlayer): Promise<CallResult & { readonly amount?: string }> {
    const result = await this.call('POST', '/user/balance', balanceBody(player));
    const amount = result.status === 200 ? amountIn(result.body) : undefined;
    return amount === undefined ? result : { ...result, amount };
  }

  /** Makes a bet's slip without sending it, so that its operations can be sent in any order. */
  slip(request: PlaceRequest): BetSlip {
    const { token, userId, currency, amount } = request;
    const slip: BetSlip = {
      transactionId: request.transactionId ?? randomUUID(),
      token,
      userId,
      currency,
      amount,
      coefficient: request.coefficient ?? '1.2',
      bonusId: request.bonusId ?? null,
      bonusTemplateId: request.bonusTemplateId ?? null,
    };
    this.#slips.set(slip.transactionId, slip);
    return slip;
  }

  /**
   * Places a bet; if the outcome is unknown, starts its rollback.
   * @throws Error for a bet placed before (use `call` for that), or an unusable bonus
   */
  async place(request: PlaceRequest, more?: RawFields): Promise<PlaceOutcome> {
    const slip = this.slip(request);
    const { transactionId } = slip;
    if (this.#placed.has(transactionId)) throw new Error(`bet ${transactionId} was placed before`);
    this.#placed.add(transactionId);
    if (!this.#beliefs.has(transactionId)) this.#beliefs.open(slip, 'placing');
    const result = await this.call('POST', BET_PATH, placeBody(slip, more));
    if (confirms(result, transactionId)) {
      this.#conclude(transactionId, 'accepted');
      if (slip.bonusId !== null) this.#bonusApi?.useBonus(slip.bonusId);
      return { kind: 'accepted', transactionId, result };
    }
    const code = codeOf(result);
    if (result.status === 400 && code !== undefined && code !== SYSTEM_ERROR) {
      this.#conclude(transactionId, 'declined');
      return { kind: 'declined', code, transactionId, result };
    }
    const reason = result.failure === undefined ? PARTNER_FAILED : TIMED_OUT;
    const rollback = this.rollback(transactionId, reason);
    return { kind: 'failed', transactionId, result, rollback };
  }

  /** Sends a result, or a new one (resettle), until a definite answer comes. */
  async settle(
    transactionId: string,
    result: { amount: string; resultType: ResultType; token?: string },
    more?: RawFields,
  ): Promise<OperationOutcome> {
    const slip = this.#slipOf(transactionId);
    const { amount, resultType } = result;
    const token = resultType === 'cashout' ? (result.token ?? slip.token) : undefined;
    const body = () => settleBody(slip, { amount, resultType, token }, more);
    const outcome = await this.#send('settle', transactionId, body);
    if (outcome.kind === 'confirmed') {
      this.#beliefs.change(transactionId, { state: 'settled', paid: amount, resultType });
    }
    return outcome;
  }

  /** Takes the result back: the bet waits for another one. */
  async unsettle(transactionId: string, more?: RawFields): Promise<OperationOutcome> {
    const slip = this.#slipOf(transactionId);
    const paid = this.#beliefs.get(transactionId)?.paid ?? '0';
    const body = () => unsettleBody(slip, paid, more);
    const outcome = await this.#send('unsettle', transactionId, body);
    if (outcome.kind === 'confirmed') {
      this.#beliefs.change(transactionId, { state: 'accepted', paid: '0', resultType: undefined });
    }
    return outcome;
  }

  /** Gives the bet up, as the control stage does or because its place failed. */
  async rollback(
    transactionId: string,
    errorCode = CLOSING_FAILED,
    more?: RawFields,
  ): Promise<OperationOutcome> {
    const slip = this.#slipOf(transactionId);
    if (!this.#beliefs.has(transactionId)) this.#beliefs.open(slip, 'rolling_back');
    this.#beliefs.change(transactionId, { state: 'rolling_back' });
    const body = () => rollbackBody(slip, errorCode, more);
    const outcome = await this.#send('rollback', transactionId, body);
    if (outcome.kind === 'confirmed' || outcome.code === ALREADY_PROCESSED) {
      const gone = { state: 'rolled_back', paid: '0', doubt: undefined } as const;
      this.#beliefs.change(transactionId, gone);
      return { ...outcome, kind: 'confirmed' };
    }
    // A refused rollback leaves open whether the stake was returned (service protocol).
    this.#beliefs.change(transactionId, { doubt: 'rollback' });
    return outcome;
  }

  /** Changes the odds of an accepted bet. No money moves. */
  async update(
    transactionId: string,
    coefficient: string,
    more?: RawFields,
  ): Promise<OperationOutcome> {
    const slip = this.#slipOf(transactionId);
    const body = () => updateBody(slip, coefficient, more);
    const outcome = await this.#send('update', transactionId, body);
    if (outcome.kind === 'confirmed') this.#beliefs.change(transactionId, { coefficient });
    return outcome;
  }

  books(): ServiceBooks {
    return this.#beliefs.books();
  }

  /** Resolves when nothing is being sent or repeated. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Aborts what is still being repeated, and closes all connections. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#client.close();
    await this.idle();
  }

  async #send(
    operation: BetOperation,
    transactionId: string,
    body: () => string,
  ): Promise<OperationOutcome> {
    // Each send gets its own requestId: it is "the unique id of this request".
    const send = () => this.call('PUT', BET_PATH, body());
    const isFinal = (result: CallResult) =>
      result.status === 400 || confirms(result, transactionId);
    const sending = sendUntil(isFinal, send, this.#retry);
    this.#running.add(sending);
    const { last, sends } = await sending.finally(() => this.#running.delete(sending));
    const code = codeOf(last);
    if (last.status === 400) return { kind: 'refused', code, last, sends };
    if (confirms(last, transactionId)) return { kind: 'confirmed', code, last, sends };
    this.#beliefs.change(transactionId, { doubt: operation });
    return { kind: 'unanswered', code, last, sends };
  }

  /** A rollback that was sent meanwhile overrides any answer to the place. */
  #conclude(transactionId: string, state: 'accepted' | 'declined'): void {
    if (this.#beliefs.get(transactionId)?.state !== 'placing') return;
    this.#beliefs.change(transactionId, { state, doubt: undefined });
  }

  #slipOf(transactionId: string): BetSlip {
    const slip = this.#slips.get(transactionId);
    if (slip === undefined) throw new Error(`no slip of bet ${transactionId}`);
    return slip;
  }
}
