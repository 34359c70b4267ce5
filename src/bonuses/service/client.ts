import type { GatewayConfig } from '../../config/schema/schema.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Deadline } from '../../domain/deadline.ts';
import { Breaker } from '../../outbound/breaker.ts';
import { Bulkhead } from '../../outbound/bulkhead.ts';
import { HttpClient } from '../../outbound/http-client.ts';
import { sign } from '../../protocol/signature.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { BonusMethod } from '../method-names.ts';
import type { Account } from './account.ts';
import { type BonusApiAnswer, healthOfService, judge } from './answer.ts';

/** Enough for a thousand bonuses of a kilobyte or two, and more. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
/** One operator's concurrent calls: an operator that floods must not use up everybody's connections (I7). */
const CONCURRENT_MAX = 32;
const BONUS_API_CONNECTIONS_MAX = 256;
const BREAKER = { errorPercent: 50, minRequests: 10, windowMs: 30_000, openMs: 5_000 };

export interface BonusServiceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: () => GatewayConfig['service'];
}

interface BonusLane {
  readonly bulkhead: Bulkhead;
  readonly breaker: Breaker;
}

interface Connections {
  readonly url: string;
  readonly timeoutMs: number;
  readonly basePath: string;
  readonly http: HttpClient;
}

/** The service's bonus API on connections of its own. Each caller has its own bulkhead and breaker (I7). */
export class BonusService {
  readonly #options: BonusServiceOptions;
  readonly #lanes = new Map<string, BonusLane>();
  #connections: Connections | undefined;

  constructor(options: BonusServiceOptions) {
    this.#options = options;
  }

  /**
   * Asks once; the signature covers exactly the bytes that are sent. Never rejects because of the service.
   * @param caller whose lane it uses: an operator's id, or the read-back's name
   */
  async ask(
    caller: string,
    account: Account,
    method: BonusMethod,
    body: string,
    deadline: Deadline,
  ): Promise<BonusApiAnswer> {
    const { bulkhead, breaker } = this.#laneOf(caller);
    if (!breaker.admits) return { kind: 'notSent', reason: 'breaker' };
    if (!bulkhead.enter()) return { kind: 'notSent', reason: 'bulkhead' };
    try {
      return await breaker.run(
        () => this.#exchange(account, method, body, deadline),
        healthOfService,
      );
    } finally {
      bulkhead.leave();
    }
  }

  /** Lets calls under way finish. */
  async close(): Promise<void> {
    await this.#connections?.http.close();
    for (const { breaker } of this.#lanes.values()) breaker.shutdown();
  }

  async #exchange(
    account: Account,
    method: BonusMethod,
    body: string,
    deadline: Deadline,
  ): Promise<BonusApiAnswer> {
    const { basePath, http } = this.#connect();
    const bytes = Buffer.from(body, 'utf8');
    const exchange = await http.exchange(
      {
        method: 'POST',
        path: `${basePath}/bonuses/${method}`,
        headers: { 'content-type': 'application/json', 'x-sign-jws': sign(bytes, account.key) },
        body: bytes,
        answerBytesMax: ANSWER_BYTES_MAX,
      },
      deadline,
    );
    return judge(exchange, method);
  }

  /** Follows the configuration: another address or limit takes effect with the next call. */
  #connect(): Connections {
    const { bonusApiUrl: url, bonusTimeoutMs: timeoutMs } = this.#options.settings();
    const before = this.#connections;
    if (before?.url === url && before.timeoutMs === timeoutMs) return before;
    const { origin, pathname } = new URL(url);
    const http = this.#client(origin, timeoutMs);
    this.#connections = { url, timeoutMs, basePath: pathname.replace(/\/$/, ''), http };
    void before?.http.close();
    return this.#connections;
  }

  #client(origin: string, timeoutMs: number): HttpClient {
    const { logger, clock } = this.#options;
    return new HttpClient({
      clock,
      origin,
      // The aggregator itself sets the address, which may be plain http or in its own network.
      allowPrivate: true,
      timeoutMs,
      connections: BONUS_API_CONNECTIONS_MAX,
      // The copy of an answer would be taken for that to the next call, which may be another operator's (I8).
      onAnsweredTwice: () => logger.warn('bonus.answered_twice'),
      onCloseFailed: (error) => this.#closeFailed(error),
    });
  }

  #closeFailed(error: unknown): void {
    this.#options.logger.error({ err: error }, 'bonus.close_failed');
  }

  #laneOf(caller: string): BonusLane {
    const known = this.#lanes.get(caller);
    if (known !== undefined) return known;
    const breaker = new Breaker({
      name: `bonuses/${caller}`,
      settings: BREAKER,
      override: 'auto',
      onChange: (state) => {
        const level = state === 'closed' ? 'info' : 'warn';
        this.#options.logger[level]({ operator: caller, state }, 'bonus.breaker');
      },
    });
    const lane = { bulkhead: new Bulkhead(CONCURRENT_MAX), breaker };
    this.#lanes.set(caller, lane);
    return lane;
  }
}
