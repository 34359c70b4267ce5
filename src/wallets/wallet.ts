import type { Clock } from '../domain/clock.ts';
import { CALL_CLASSES, type CallClass, classOf, type Operation } from '../domain/operation.ts';
import { type BetAnswer, type NotSentReason, notSent } from '../domain/wallet-answer.ts';
import type { BreakerOverride, BreakerState } from '../outbound/breaker.ts';
import type { HttpRequest } from '../outbound/http-message.ts';
import { type ReceivedBody, SecretMask, secretsOfRequest } from '../outbound/secret-mask.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { noTracing, type Tracing } from '../telemetry/tracing.ts';
import type { WalletAdapter } from './adapters/adapter.ts';
import { createAdapter } from './adapters/index.ts';
import type { BetCall, CallerDialect, ReadAnswer, ReadCall, Wallet } from './call.ts';
import { logCall, tracedCall } from './call-log.ts';
import { type EvidenceLimits, settingsMask, withoutSecrets } from './evidence.ts';
import { Lane } from './lane.ts';
import { sharesConnections, type WalletOperator } from './wallet-config.ts';
import { WalletConnections } from './wallet-connections.ts';
import {
  betAnswer,
  callOnce,
  type Lost,
  readAnswer,
  type Step,
  type WalletAnswer,
} from './wallet-exchange.ts';
import { WalletMetrics } from './wallet-metrics.ts';

export interface WalletOptions {
  readonly config: WalletOperator;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: none. */
  readonly tracing?: Tracing;
  /** How much of the answers is stored at present. */
  readonly evidence: () => EvidenceLimits;
  /** People's overrides, per class. */
  readonly overrideOf: (callClass: CallClass) => BreakerOverride;
  readonly onBreakerChange: (callClass: CallClass, state: BreakerState) => void;
}

/** One operator's wallet: after a reload, calls in flight end with the old settings. */
export class OperatorWallet implements Wallet {
  readonly operatorId: string;
  readonly #options: WalletOptions;
  readonly #metrics: WalletMetrics;
  readonly #tracing: Tracing;
  readonly #lanes: Readonly<Record<CallClass, Lane>>;
  readonly #connections: WalletConnections;
  #config: WalletOperator;
  #adapter: WalletAdapter;
  #closed = false;

  /** @throws Error if the settings name no known adapter or no usable secret */
  constructor(options: WalletOptions) {
    this.operatorId = options.config.id;
    this.#options = options;
    this.#config = options.config;
    this.#adapter = createAdapter(options.config.wallet, options.clock);
    this.#metrics = new WalletMetrics(options.metrics, this.operatorId);
    this.#tracing = options.tracing ?? noTracing;
    this.#connections = new WalletConnections({
      clock: options.clock,
      settings: () => this.#config.wallet,
      onCloseFailed: (error) => this.#failed('wallet.close_failed', error),
      onAnsweredTwice: (requestId) =>
        options.logger.warn({ operator: this.operatorId, requestId }, 'wallet.answered_twice'),
    });
    this.#lanes = { read: this.#createLane('read'), money: this.#createLane('money') };
  }

  get config(): WalletOperator {
    return this.#config;
  }

  get callerDialect(): CallerDialect {
    return this.#adapter.callerDialect;
  }

  async bet(call: BetCall): Promise<BetAnswer> {
    const adapter = this.#adapter;
    const { clock } = this.#options;
    const mask = this.#maskFor(call);
    return this.#call<BetAnswer>(call, {
      request: (budgetMs) => adapter.betRequest(call, budgetMs),
      answer: (response, trace) =>
        betAnswer(call.operation, adapter.betVerdict(call, response), clock.nowMs(), trace),
      keep: (answer, request, received) => this.#kept(answer, () => mask(request), received),
      onBrokenAdapter: (error) => this.#failed('wallet.adapter_failed', error),
    });
  }

  async read(call: ReadCall): Promise<ReadAnswer> {
    const adapter = this.#adapter;
    const mask = this.#maskFor(call);
    return this.#call<ReadAnswer>(call, {
      request: (budgetMs) => adapter.readRequest(call, budgetMs),
      answer: (response, trace) => readAnswer(call, adapter.readVerdict(call, response), trace),
      // Data is passed on unchanged; only a refusal's message, which goes to the service, is masked.
      keep: (answer, request) =>
        answer.kind === 'answered' ? answer : withoutSecrets(answer, mask(request)),
      onBrokenAdapter: (error) => this.#failed('wallet.adapter_failed', error),
    });
  }

  refusal(operation: Operation): NotSentReason | undefined {
    if (this.#closed) return 'connection';
    const { status } = this.#config;
    if (status === 'maintenance') return 'maintenance';
    if (status === 'suspended' && startsSomethingNew(operation)) return 'suspended';
    return this.#lanes[classOf(operation)].refusal(operation);
  }

  breakerState(callClass: CallClass): BreakerState {
    return this.#lanes[callClass].breakerState;
  }

  inFlight(callClass: CallClass): number {
    return this.#lanes[callClass].inFlight;
  }

  /** Sets the gauges of calls in flight. */
  showInFlight(): void {
    if (this.#closed) return;
    for (const callClass of CALL_CLASSES) {
      this.#metrics.inFlight(callClass, this.inFlight(callClass));
    }
  }

  override(callClass: CallClass, to: BreakerOverride): void {
    this.#lanes[callClass].override(to);
  }

  /** @throws Error as the constructor does; the old settings then stay in force */
  reconfigure(config: WalletOperator): void {
    this.#adapter = createAdapter(config.wallet, this.#options.clock);
    for (const callClass of CALL_CLASSES) {
      this.#lanes[callClass].reconfigure(config.wallet);
    }
    if (!sharesConnections(config.wallet, this.#config.wallet)) this.#connections.replace();
    this.#config = config;
  }

  async close(): Promise<void> {
    this.#closed = true;
    // Before waiting: by the time the last call has ended, the operator may be configured again.
    for (const callClass of CALL_CLASSES) this.#metrics.remove(callClass);
    await this.#connections.close();
    for (const callClass of CALL_CLASSES) this.#lanes[callClass].shutdown();
  }

  /** Refuses at once, or calls within the breaker and the bulkhead; counts either way. */
  async #call<A extends WalletAnswer>(call: BetCall | ReadCall, step: Step<A>): Promise<A | Lost> {
    const { operation, deadline } = call;
    const reason =
      this.refusal(operation) ?? (deadline.allowsWalletCall() ? undefined : 'deadline');
    const facts = { operator: this.operatorId, operation };
    const permit = { deadline, maySend: 'maySend' in call ? (call.maySend ?? always) : always };
    const answer: A | Lost =
      reason === undefined
        ? await this.#lanes[classOf(operation)].run(operation, () =>
            tracedCall(this.#tracing, facts, () =>
              callOnce(
                this.#connections.current,
                this.#options.clock,
                permit,
                step,
                this.#tracing.outgoing(),
              ),
            ),
          )
        : notSent(reason, reason);
    this.#metrics.answered(operation, answer);
    logCall(this.#options.logger, this.operatorId, call, answer);
    return answer;
  }

  /** The answer with the evidence stored for people, and without secrets. */
  #kept(answer: BetAnswer, mask: () => SecretMask, received: ReceivedBody | undefined): BetAnswer {
    const limits = this.#options.evidence();
    const isAccepted = answer.kind === 'accepted';
    const limitBytes = isAccepted ? limits.acceptedBytes : limits.otherBytes;
    if (isAccepted && limitBytes === 0) return answer;
    const redaction = mask();
    const masked = answer.kind === 'accepted' ? answer : withoutSecrets(answer, redaction);
    const evidence = received && redaction.evidence(received, limitBytes);
    return evidence === undefined ? masked : { ...masked, trace: { ...masked.trace, evidence } };
  }

  /** Made when the call is made: secrets that a reload puts into force later have not signed it. */
  #maskFor({ body }: BetCall | ReadCall): (request: HttpRequest) => SecretMask {
    const { wallet } = this.#config;
    return (request) => new SecretMask(secretsOfRequest(request, body), settingsMask(wallet));
  }

  #failed(what: string, error: unknown): void {
    this.#options.logger.error({ operator: this.operatorId, err: error }, what);
  }

  #createLane(callClass: CallClass): Lane {
    const { overrideOf, onBreakerChange } = this.#options;
    const lane = new Lane({
      name: `${this.operatorId}/${callClass}`,
      callClass,
      settings: this.#config.wallet,
      override: overrideOf(callClass),
      onBreakerChange: (state) => {
        if (this.#closed) return;
        this.#metrics.breakerState(callClass, state);
        onBreakerChange(callClass, state);
      },
    });
    this.#metrics.breakerState(callClass, lane.breakerState);
    return lane;
  }
}

const always = () => true;

/** Suspended operators start nothing new, but open bets of their players are completed. */
function startsSomethingNew(operation: Operation): boolean {
  return operation === 'place' || classOf(operation) === 'read';
}
