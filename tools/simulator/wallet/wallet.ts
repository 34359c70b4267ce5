import type { Server } from 'node:http';
import { canonicalAmount } from '../../../src/domain/amount.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import type { BetOperation, Operation } from '../../../src/domain/operation.ts';
import { type SigningKey, signingKeys } from '../../../src/protocol/signature.ts';
import type { Gate, GatePoint } from '../gates.ts';
import type { WireAnswer } from './answers.ts';
import type { Arrival } from './arrivals.ts';
import { CallHandler } from './call-handler.ts';
import type { WalletCall, WalletPath } from './calls.ts';
import type { Flaw } from './flaw.ts';
import { createWalletHttp, type SignatureJudge } from './http.ts';
import type { WalletBet } from './ledger.ts';
import { SimulatedServer } from './listener.ts';
import { type Misbehaviour, type MisbehaviourOptions, matching } from './misbehaviour.ts';
import { type Account, type PlayerSeed, Players } from './players.ts';
import { type RecordedRequest, Recorder } from './recorder.ts';

export interface WalletOptions {
  /** Its name in books and tables. */
  readonly name: string;
  /** Verifies what callers sign. */
  readonly secret: string;
  /** Prefix of the three paths; default `/sportsbook`. */
  readonly basePath?: string;
  /** Paths that differ from the protocol's, below `basePath`. */
  readonly paths?: Partial<Record<WalletPath, string>>;
  readonly players?: readonly PlayerSeed[];
  /** How many requests `requests` remembers; default 1000. */
  readonly requestsMax?: number;
  /** Lets a well-behaved wallet speak a dialect: changes an answer before it is sent. */
  readonly rewrite?: (answer: WireAnswer, call: WalletCall) => WireAnswer;
  /** The same for requests that are refused before they are read as a call: signature, shape. */
  readonly rewriteRefused?: (answer: WireAnswer) => WireAnswer;
  /** Lets the wallet make mistakes in its books. */
  readonly flaw?: Flaw;
  /** How it verifies signatures; default: as the protocol says. */
  readonly judge?: SignatureJudge;
}

export interface GateOptions {
  /** Only calls about this bet. */
  readonly transactionId?: string;
  /** Default `before`. */
  readonly point?: GatePoint;
}

/** A wallet's books, for the comparison with the service's. */
export interface WalletBooks {
  readonly name: string;
  readonly accounts: readonly Account[];
  readonly bets: readonly WalletBet[];
}

const PROTOCOL_PATHS = { profile: '/user/profile', balance: '/user/balance', bet: '/payment/bet' };
const WAIT_MS = 15_000;

/** Starts an operator's wallet that keeps the protocol until it is told to misbehave. */
export async function startWallet(options: WalletOptions): Promise<SimulatedWallet> {
  const wallet = new SimulatedWallet(options);
  await wallet.up();
  return wallet;
}

/** An operator's wallet on a real socket, with books to look at and faults to switch on. */
export class SimulatedWallet extends SimulatedServer {
  readonly name: string;
  protected readonly server: Server;
  readonly #basePath: string;
  readonly #players = new Players();
  readonly #handler: CallHandler;
  readonly #recorder: Recorder;
  #keys: readonly SigningKey[];

  /** Use `startWallet`. */
  constructor(options: WalletOptions) {
    super();
    this.name = options.name;
    this.#handler = new CallHandler(this.#players, systemClock, options);
    this.#basePath = options.basePath ?? '/sportsbook';
    this.#keys = signingKeys([options.secret]);
    this.#recorder = new Recorder(options.requestsMax ?? 1000);
    for (const seed of options.players ?? []) this.#players.add(seed);
    const paths = { ...PROTOCOL_PATHS, ...options.paths };
    this.server = createWalletHttp({
      paths: {
        profile: this.#basePath + paths.profile,
        balance: this.#basePath + paths.balance,
        bet: this.#basePath + paths.bet,
      },
      keys: () => this.#keys,
      judge: options.judge,
      rewriteRefused: options.rewriteRefused,
      nowMs: () => systemClock.monotonicMs(),
      record: (request) => {
        this.#recorder.record(request);
        this.#handler.changes.notify();
      },
      serve: (call, response, path) => void this.#handler.serve(call, response, path),
    });
  }

  /** `wallet.baseUrl` of the operator's configuration. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}${this.#basePath}`;
  }

  /** Every bet that the books know, by `transactionId`. A declined place bet is none. */
  get bets(): ReadonlyMap<string, WalletBet> {
    return this.#handler.ledger.bets;
  }

  /** The latest requests as they came, valid or not. */
  get requests(): readonly RecordedRequest[] {
    return this.#recorder.recent();
  }

  /** The calls about a bet with a valid signature and shape, in order, whatever happened to them. */
  arrivals(transactionId: string, operation?: BetOperation): readonly Arrival[] {
    return this.#handler.arrivals.of(transactionId, operation);
  }

  /** Canonical decimal text. @throws Error when the player has no such account */
  balance(user: string, currency: string): string {
    return canonicalAmount(this.#players.balance(user, currency));
  }

  books(): WalletBooks {
    const accounts = this.#players.accounts();
    return { name: this.name, accounts, bets: [...this.#handler.ledger.bets.values()] };
  }

  addPlayer(seed: PlayerSeed): void {
    this.#players.add(seed);
  }

  deposit(user: string, currency: string, amount: string): void {
    this.#players.deposit(user, currency, amount);
  }

  issueToken(token: string, user: string, currency: string): void {
    this.#players.issueToken(token, user, currency);
  }

  /** `expired`: answered with code 4 from now on; `revoked`: with code 3. */
  endToken(token: string, why: 'expired' | 'revoked'): void {
    this.#players.endToken(token, why);
  }

  /** The profile names this currency from now on, whatever the token's is; `undefined` ends that. */
  switchCurrency(user: string, currency: string | undefined): void {
    this.#players.switchCurrency(user, currency);
  }

  setSecrets(secrets: readonly string[]): void {
    this.#keys = signingKeys(secrets);
  }

  /** @returns removes this misbehaviour */
  misbehave(
    operation: Operation | 'any',
    misbehaviour: Misbehaviour,
    { transactionId, calls = Number.POSITIVE_INFINITY }: MisbehaviourOptions = {},
  ): () => void {
    const applies = matching({ operation, transactionId });
    const isSpecific = transactionId !== undefined;
    return this.#handler.misbehaviours.add(applies, misbehaviour, calls, isSpecific);
  }

  /** Removes all misbehaviours. Calls that hang keep hanging. */
  behave(): void {
    this.#handler.misbehaviours.clear();
  }

  /** Holds calls inside the wallet until the gate is released, even if their caller hangs up. */
  hold(operation: Operation | 'any', options: GateOptions = {}): Gate {
    const { transactionId, point = 'before' } = options;
    return this.#handler.gates.hold(point, matching({ operation, transactionId }));
  }

  /** Books the calls that arrived under `effect: 'later'`, in order of arrival. @returns how many calls */
  applyLate(transactionId?: string): number {
    return this.#handler.applyLate(transactionId);
  }

  /** Resolves as soon as `predicate` is true. @throws Error if it is not within `timeoutMs` (10 s) */
  waitFor(predicate: (wallet: SimulatedWallet) => boolean, timeoutMs = WAIT_MS): Promise<void> {
    return this.#handler.changes.waitFor(() => predicate(this), timeoutMs, String(predicate));
  }
}
