import { Cluster, Redis } from 'ioredis';
import type { Clock } from '../domain/clock.ts';
import { errorMessage } from '../lib/faults.ts';
import { within, withinOrArrived } from '../lib/within.ts';
import type { Logger } from '../telemetry/logger.ts';
import { connectRedis, type RedisConnection } from './connect.ts';

/** Longer than a healthy Redis ever takes, shorter than anybody notices. */
const COMMAND_TIMEOUT_MS = 150;
/** After a failure, Redis is not asked for this long: a frozen Redis must not slow down every call. */
const REST_MS = 1_000;
const IN_FLIGHT_MAX = 2_000;
/** A server that reads its dump takes connections, and ioredis waits in silence until it is through. */
const NOT_READY = 'connected, but Redis is not ready: it may still be loading its data (LOADING)';
/** A server that refuses the password does so at once: what it said before does not hold for an older connection. */
const REFUSED_WITHIN_MS = 500;
/** What Redis or a Sentinel itself answers to a client that it does not want, or that speaks to the wrong kind of server. */
const REFUSAL = /(?:^|Last error: )((?:ERR|NOAUTH|NOPERM|WRONGPASS) .*)$/;
/** Lifetime of the key that readiness writes to check whether Redis accepts writes. */
const HEALTH_KEPT_MS = 10_000;

const SET_ALL_IF_ABSENT = `
  for at, key in ipairs(KEYS) do redis.call('SET', key, ARGV[at + 1], 'PX', ARGV[1], 'NX') end`;

/** Reads a key's value and writes it back unchanged: a server that accepts no writes refuses that. */
const GET_WHERE_TAKEN = `
  local value = redis.call('GET', KEYS[1])
  if value then redis.call('SET', KEYS[1], value, 'KEEPTTL') end
  return value`;

export interface AcceleratorOptions {
  readonly url: string;
  /** Prefix of every key, so that other programs may share the Redis. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A pending read of one key. */
interface Wanted {
  readonly key: string;
  readonly resolve: (value: string | undefined) => void;
}

/** Redis as an accelerator: requests neither throw nor wait long; a missing answer means PostgreSQL. */
export class Accelerator {
  readonly #redis: RedisConnection;
  readonly #options: AcceleratorOptions;
  #restingUntilMs = 0;
  /** Why there is no connection, while there is none. */
  #connectionError: Error | undefined;
  #connectedAtMs = Number.POSITIVE_INFINITY;
  /** What Redis itself last said against this connection, such as WRONGPASS. */
  #refusal: string | undefined;
  #refusedDatabase: Error | undefined;
  #inFlight = 0;
  #wasThere = false;
  readonly #onReturn: (() => void)[] = [];
  /** Resolves when the first connection is ready. */
  readonly joined: Promise<void>;
  #wanted: Wanted[] = [];

  constructor(options: AcceleratorOptions) {
    this.#options = options;
    this.#redis = connectRedis(options.url, {
      keyPrefix: options.prefix,
      // A write to the socket costs more than the rest of a command. A single server gets one command for all keys of
      // a turn, and making a pipeline would cost more than its few writes.
      pipelinesInCluster: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: 2_000,
      // Fails the commands queued on a frozen connection; the reconnect strategy takes over.
      socketTimeout: 2_000,
      retryStrategy: (times) => Math.min(times * 100, 2_000),
    });
    this.#redis.on('error', (said: Error) => {
      const error = nodeError(said);
      options.logger.debug({ error: error.message }, 'redis.connection_error');
      this.#connectionError = error;
      this.#logRefusal(error);
      if (error.message.includes('DB index')) this.#refusedDatabase = error;
    });
    this.#redis.on('connect', () => {
      this.#connectedAtMs = options.clock.monotonicMs();
      // What Redis itself has said, such as WRONGPASS, probably holds for this connection too.
      if (this.#connectionError?.name !== 'ReplyError') this.#connectionError = undefined;
    });
    const joined = Promise.withResolvers<void>();
    this.joined = joined.promise;
    this.#redis.on('ready', () => {
      if (this.#restingUntilMs < Number.POSITIVE_INFINITY) this.#restingUntilMs = 0;
      joined.resolve();
      this.#connectionError = undefined;
      this.#refusal = undefined;
      if (this.#wasThere) this.#returned();
      this.#wasThere = true;
    });
    if (this.#redis instanceof Cluster) this.#watchNodes(this.#redis);
  }

  /** A cluster stays ready while one of its nodes disappears and returns, or is replaced. */
  #watchNodes(cluster: Cluster): void {
    const known = new Set<string>();
    cluster.on('+node', (node: Redis) => {
      const address = `${node.options.host}:${node.options.port}`;
      node.on('ready', () => {
        if (known.has(address)) this.#returned();
        known.add(address);
      });
    });
    cluster.on('-node', () => this.#returned());
  }

  /** Waiting does not cure a wrong password: a person has to know. Logged when it changes. */
  #logRefusal({ message }: Error): void {
    const error = REFUSAL.exec(message)?.[1];
    if (error === undefined || error === this.#refusal) return;
    this.#refusal = error;
    const note = 'works on PostgreSQL alone until REDIS_URL or Redis is put right';
    this.#options.logger.error({ error, note }, 'redis.refuses');
  }

  #returned(): void {
    for (const listener of this.#onReturn) listener();
  }

  /** Reads a key together with all others of this turn; undefined if there is none or no answer. */
  get(key: string): Promise<string | undefined> {
    if (this.#isResting) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#wanted.push({ key, resolve });
    if (this.#wanted.length === 1) setImmediate(() => void this.#getWanted());
    return promise;
  }

  async #getWanted(): Promise<void> {
    const wanted = this.#wanted;
    this.#wanted = [];
    const values = await this.#values(wanted.map(({ key }) => key));
    for (const [at, { resolve }] of wanted.entries()) resolve(values?.[at] ?? undefined);
  }

  #values(keys: readonly string[]): Promise<readonly (string | null | undefined)[] | undefined> {
    const redis = this.#redis;
    // In a cluster, the keys are on several nodes.
    return redis instanceof Redis
      ? this.#ask(() => redis.mget(...keys))
      : Promise.all(keys.map((key) => this.#ask(() => redis.get(key))));
  }

  /** Reads a value that somebody may have failed to overwrite; undefined also if its server takes no writes. */
  async getWhereTaken(key: string): Promise<string | undefined> {
    const value = await this.#ask(() => this.#redis.eval(GET_WHERE_TAKEN, 1, key));
    return typeof value === 'string' ? value : undefined;
  }

  /** @returns whether Redis has confirmed it */
  async set(key: string, value: string, ttlMs: number): Promise<boolean> {
    return (await this.#ask(() => this.#redis.set(key, value, 'PX', ttlMs))) === 'OK';
  }

  /** Sets a key unless it exists. @returns whether Redis has confirmed that it was set */
  async setIfAbsent(key: string, value: string, ttlMs: number): Promise<boolean> {
    return (await this.#ask(() => this.#redis.set(key, value, 'PX', ttlMs, 'NX'))) === 'OK';
  }

  /** Sets those keys that do not exist yet, with one command; in a Redis Cluster, with one per key. */
  async setAllIfAbsent(entries: readonly (readonly [string, string])[], ttlMs: number) {
    const redis = this.#redis;
    if (redis instanceof Redis) {
      const [keys, values] = [entries.map(([key]) => key), entries.map(([, value]) => value)];
      await this.#ask(() => redis.eval(SET_ALL_IF_ABSENT, keys.length, ...keys, ttlMs, ...values));
    } else {
      // Its keys are on several nodes.
      await Promise.all(entries.map(([key, value]) => this.setIfAbsent(key, value, ttlMs)));
    }
  }

  /** Whether Redis takes writes now: full, or as a replica, it would still answer a PING. For readiness. */
  async isAnswering(): Promise<boolean> {
    // Without a connection, asking would fail at once and start a rest for nothing.
    if (this.#redis.status !== 'ready') return false;
    try {
      const written = this.#redis.set('health', '', 'PX', HEALTH_KEPT_MS);
      return (await withinOrArrived(COMMAND_TIMEOUT_MS, written)) === 'OK';
    } catch (error) {
      this.#rest(error);
      return false;
    }
  }

  /** The `run_id` of this start of the server, or of all masters of a Redis Cluster; undefined if one does not tell. */
  async serverRun(): Promise<string | undefined> {
    const redis = this.#redis;
    const servers = redis instanceof Redis ? [redis] : redis.nodes('master');
    const runs = await Promise.all(
      servers.map((server) => this.#info(() => server.info('server'), /^run_id:(\S+)/m)),
    );
    return runs.length > 0 && runs.every((run) => run !== undefined)
      ? runs.toSorted().join()
      : undefined;
  }

  /** The server's `maxmemory-policy`, or undefined if it does not tell. */
  async evictionPolicy(): Promise<string | undefined> {
    return await this.#info(() => this.#redis.info('memory'), /^maxmemory_policy:(\S+)/m);
  }

  async #info(ask: () => Promise<string>, wanted: RegExp): Promise<string | undefined> {
    // A server that only resembles Redis may answer anything.
    const info: unknown = await this.#ask(ask);
    return typeof info === 'string' ? wanted.exec(info)?.[1] : undefined;
  }

  /** @param listener called at each reconnection: it may be another server, or have older data */
  onReturn(listener: () => void): void {
    this.#onReturn.push(listener);
  }

  /** Redis has no database of that number: the connection uses database 0, which may be another gateway's. */
  get refusedDatabase(): Error | undefined {
    return this.#refusedDatabase;
  }

  /** Waits for the first connection. @throws Error with the reason after `limitMs`, or `refusedDatabase` */
  async connected(limitMs: number): Promise<void> {
    try {
      await within(limitMs, this.joined);
    } catch (error) {
      throw new Error(this.#whyNotReady ?? 'no answer', { cause: error });
    }
    if (this.#refusedDatabase !== undefined) throw this.#refusedDatabase;
  }

  close(): void {
    // Rests forever: later requests must not log that Redis is unavailable.
    this.#restingUntilMs = Number.POSITIVE_INFINITY;
    this.#redis.disconnect();
  }

  async #ask<T>(command: () => Promise<T>): Promise<T | undefined> {
    if (this.#inFlight >= IN_FLIGHT_MAX || this.#isResting) return undefined;
    this.#inFlight += 1;
    try {
      return await withinOrArrived(COMMAND_TIMEOUT_MS, command());
    } catch (error) {
      this.#rest(error);
      return undefined;
    } finally {
      this.#inFlight -= 1;
    }
  }

  get #isResting(): boolean {
    return this.#options.clock.monotonicMs() < this.#restingUntilMs;
  }

  /** Why Redis cannot be asked, if that is known. */
  get #whyNotReady(): string | undefined {
    const isConnected = this.#redis instanceof Redis && this.#redis.status === 'connect';
    const connectedForMs = this.#options.clock.monotonicMs() - this.#connectedAtMs;
    if (isConnected && connectedForMs >= REFUSED_WITHIN_MS) return NOT_READY;
    return this.#connectionError?.message ?? (isConnected ? NOT_READY : undefined);
  }

  #rest(error: unknown): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs >= this.#restingUntilMs) {
      const said = errorMessage(error);
      // Without a connection, a command's error only says that there is none.
      const why = this.#whyNotReady ?? said;
      this.#options.logger.warn({ error: why, restMs: REST_MS }, 'redis.unavailable');
    }
    this.#restingUntilMs = Math.max(this.#restingUntilMs, nowMs + REST_MS);
  }
}

/** The error of a cluster's node, such as NOPERM: the cluster's own says only that no node gave its slots. */
function nodeError(error: Error): Error {
  const said = 'lastNodeError' in error ? error.lastNodeError : undefined;
  return said instanceof Error ? said : error;
}
