import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Fate, OperatorCharacter, OperatorId } from '../plan/plan.ts';
import { Ledger, type WalletAnswer, type WalletCall } from './ledger.ts';
import { answerBadly, answerText, bodyOf, callOf, isSigned, reply } from './wire.ts';

/** One call about a bet, and what happened to it. */
export interface Arrival {
  readonly call: WalletCall;
  /** On `performance.now()`. */
  readonly atMs: number;
  /** When it was executed, if it was. */
  doneAtMs: number | undefined;
  /** When it was answered, or its caller hung up. */
  endedAtMs: number | undefined;
  readonly isUncertain: boolean;
}

/** Watches what happens at a wallet, and decides it. */
export interface WalletWatcher {
  /** The fate of this call; undefined: it is executed and answered well. */
  fateOf(call: WalletCall, nth: number): Fate | undefined;
  arrived(arrival: Arrival, count: number, fate: Fate | undefined): void;
  booked(arrival: Arrival, answer: WalletAnswer, isLate: boolean): void;
}

const NOBODY: WalletWatcher = {
  fateOf: () => undefined,
  arrived: () => undefined,
  booked: () => undefined,
};

/** An operator's wallet on a real socket, which treats single calls as the plan says. */
export class Wallet {
  readonly operator: OperatorId;
  readonly ledger: Ledger;
  readonly #server: Server;
  readonly #arrivals = new Map<string, Arrival[]>();
  readonly #watchers = new Map<string, WalletWatcher>();
  readonly #late = new Set<NodeJS.Timeout>();
  readonly secret: string;
  #port = 0;

  constructor(operator: OperatorId, character: OperatorCharacter, secret: string) {
    this.operator = operator;
    this.ledger = new Ledger(character);
    this.secret = secret;
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.keepAliveTimeout = 60_000;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}/sportsbook`;
  }

  /** How many late calls are still to be executed. */
  get lateOnes(): number {
    return this.#late.size;
  }

  /** Every call about a bet, in the order of arrival. */
  arrivals(transactionId: string): readonly Arrival[] {
    return this.#arrivals.get(transactionId) ?? [];
  }

  watch(transactionId: string, watcher: WalletWatcher): void {
    this.#watchers.set(transactionId, watcher);
  }

  async up(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address !== null && typeof address === 'object') this.#port = address.port;
  }

  /** Breaks open connections and refuses new ones. */
  async down(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async close(): Promise<void> {
    for (const timer of this.#late) clearTimeout(timer);
    await this.down();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body: Buffer;
    try {
      body = await bodyOf(request);
    } catch {
      // The caller hung up in the middle of its request: nothing was asked.
      return;
    }
    if (!isSigned(body, request.headers['x-sign-jws'], this.secret)) {
      return reply(response, 400, '{"code":1,"message":"bad signature"}');
    }
    if (request.url?.endsWith('/payment/bet') !== true) return this.#read(response, body);
    const call = callOf(request.method ?? '', body);
    const calls = this.#arrivals.get(call.transactionId) ?? [];
    this.#arrivals.set(call.transactionId, calls);
    const nth = calls.filter((one) => one.call.operation === call.operation).length;
    const watcher = this.#watchers.get(call.transactionId) ?? NOBODY;
    const fate = watcher.fateOf(call, nth);
    const arrival: Arrival = {
      call,
      atMs: performance.now(),
      doneAtMs: undefined,
      endedAtMs: undefined,
      isUncertain: fate !== undefined && fate.answer !== 'good' && fate.answer !== 'slow',
    };
    calls.push(arrival);
    response.once('close', () => {
      arrival.endedAtMs ??= performance.now();
    });
    watcher.arrived(arrival, calls.length - 1, fate);
    this.#carryOut(response, arrival, fate, watcher);
  }

  #carryOut(
    response: ServerResponse,
    arrival: Arrival,
    fate: Fate | undefined,
    watcher: WalletWatcher,
  ): void {
    const { call } = arrival;
    const book = (isLate: boolean) => {
      const answer = this.ledger.book(call);
      arrival.doneAtMs = performance.now();
      watcher.booked(arrival, answer, isLate);
      return answer;
    };
    if (fate === undefined) {
      const { status, body } = answerText(call, book(false));
      reply(response, status, body);
      return;
    }
    // A success that is only claimed: the call was not executed, or is executed later.
    const looksGood: WalletAnswer = { ok: true, time: new Date().toISOString() };
    const answer = fate.effect === 'now' ? book(false) : looksGood;
    if (fate.effect === 'late') {
      const timer = setTimeout(() => {
        this.#late.delete(timer);
        book(true);
      }, fate.delayMs);
      this.#late.add(timer);
    }
    answerBadly(response, fate, call, answer);
  }

  /** Profile and balance, which are needed only to open sessions. */
  #read(response: ServerResponse, body: Buffer): void {
    const { userId, currency = 'USD' }: Readonly<Record<string, unknown>> = JSON.parse(
      body.toString('utf8'),
    );
    reply(response, 200, JSON.stringify({ userId, currency, amount: 1, currencies: [currency] }));
  }
}
