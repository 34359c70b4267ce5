import { randomBytes } from 'node:crypto';
import type { ServicePlayer } from '../../tools/simulator/service.ts';
import { type LoadOperation, type LoadResult, runLoad } from '../callbacks/load-job.ts';
import { findMistakes } from '../callbacks/verify.ts';
import { type Busy, watchBusy } from '../support/busy.ts';
import { cpuTimeMs } from '../support/cpu-time.ts';
import { runs } from '../support/processors.ts';
import type { Side } from '../support/surroundings.ts';
import { type OpenResult, type Phase, runOpen } from './job.ts';

/** Where load is sent, and where the bets are checked afterwards. */
export interface Scene {
  readonly databaseUrl: string;
  readonly walletUrl: string;
  readonly players: readonly ServicePlayer[];
  readonly serviceSecret: string;
}

export interface OpenOptions {
  readonly operation?: LoadOperation;
  /** Default: all players of the scene. */
  readonly players?: readonly ServicePlayer[];
  readonly connectionsMax?: number;
  /** See `OpenJob`. */
  readonly queueMs?: number;
  /** Whether its bets must be in the journal afterwards; not if they go straight to the wallet. */
  readonly journaled?: boolean;
}

export interface OpenMeasured extends OpenResult {
  /** Processor time of the measured side, if the system reports it. */
  readonly cpuMs: number | undefined;
  readonly busy: Busy;
}

/** As many as a service with a connection pool; fewer than one gateway process allows. */
const CONNECTIONS_MAX = 1_000;
const WARM_UP_BETS = 10_000;
/** Requests are signed in advance: this many times more than the warm-up's pace needs. */
const RESERVE = 2.5;

/** Sends callbacks and remembers every bet, to check them all at the end. */
export class Load {
  readonly #scene: Scene;
  /** A prefix that no other load's bets have. */
  readonly #name = `load-${randomBytes(4).toString('hex')}`;
  readonly #checks: (() => Promise<string[]>)[] = [];
  #runs = 0;
  #accepted = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /** The number of bets that the gateway answered 200. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Lets the side compile its code and open its connections. @returns places per second meanwhile */
  async warmUp(side: Side, bets: number, connections: number): Promise<number> {
    const prefix = this.#prefix();
    const { players, serviceSecret: secret } = this.#scene;
    const { answered, elapsedMs, statuses, accepted } = await runLoad({
      client: 'autocannon',
      operation: 'place',
      ...{ url: side.url, connections, bets, prefix, players, secret },
    });
    this.#remember(prefix, { count: statuses['200'] ?? 0, cut: 0, ids: accepted });
    return (1000 * answered) / elapsedMs;
  }

  /** The places per second that the gateway serves with this many always under way. */
  async maximum(side: Side, seconds: number, connections: number): Promise<number> {
    const pace = await this.warmUp(side, WARM_UP_BETS, connections);
    return await this.closed(side, seconds, connections, pace);
  }

  /**
   * The same for a side that is already warm.
   *
   * @param pace about how many places per second that will be
   */
  async closed(side: Side, seconds: number, connections: number, pace: number): Promise<number> {
    const { answered, elapsedMs } = await this.closedLoop(side, seconds, connections, pace);
    return (1000 * answered) / elapsedMs;
  }

  /** The same with all that was measured. @param journaled whether its bets must be in the journal afterwards */
  async closedLoop(
    side: Side,
    seconds: number,
    connections: number,
    pace: number,
    journaled = true,
  ): Promise<LoadResult> {
    const prefix = this.#prefix();
    const { players, serviceSecret: secret } = this.#scene;
    const client = (await runs('which', ['wrk'])) ? 'wrk' : 'autocannon';
    const bets = Math.round(pace * seconds * (client === 'wrk' ? RESERVE : 1));
    const result = await runLoad({
      ...{ client, operation: 'place', url: side.url, connections, bets, seconds },
      ...{ prefix, players, secret },
    });
    const { statuses, accepted: ids } = result;
    const cut = ids === undefined ? connections : 0;
    if (journaled) this.#remember(prefix, { count: statuses['200'] ?? 0, cut, ids });
    return result;
  }

  /** Sends at constant rates, one phase after another. */
  async open(
    side: Side,
    phases: readonly Phase[],
    options: OpenOptions = {},
  ): Promise<OpenMeasured> {
    const { operation = 'place', journaled = operation === 'place' } = options;
    const { players = this.#scene.players, connectionsMax = CONNECTIONS_MAX } = options;
    const prefix = this.#prefix();
    const busyOf = watchBusy();
    const before = await cpuTimeMs(side.process.pid);
    const result = await runOpen({
      ...{ url: side.url, phases, connectionsMax, operation, prefix, players },
      secret: this.#scene.serviceSecret,
      ...(options.queueMs !== undefined && { queueMs: options.queueMs }),
    });
    const after = await cpuTimeMs(side.process.pid);
    const busy = busyOf();
    if (journaled) {
      const ids = result.good.map((n) => `${prefix}${n}`);
      this.#remember(prefix, { count: ids.length, cut: result.cut, ids });
    }
    const cpuMs = before === undefined || after === undefined ? undefined : after - before;
    return { ...result, cpuMs, busy };
  }

  /** What is wrong with any of the sent bets, in words. */
  async mistakes(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const check of this.#checks) found.push(...(await check()));
    return found;
  }

  #prefix(): string {
    this.#runs += 1;
    return `${this.#name}-${this.#runs}-`;
  }

  #remember(prefix: string, accepted: Parameters<typeof findMistakes>[2]): void {
    this.#accepted += accepted.count;
    this.#checks.push(async () =>
      (await findMistakes(this.#scene, prefix, accepted)).map((what) => `${prefix}: ${what}`),
    );
  }
}
