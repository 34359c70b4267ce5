import { type Client, type Dispatcher, errors } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { CallProgress, HttpCall } from './http-call.ts';
import { TrackedClient } from './tracked-client.ts';

/** No new request after this: the wallet's name may mean another machine by now, and its certificate be expired. */
const CONNECTION_AGE_MS_MAX = 60_000;

export interface HttpPoolOptions {
  readonly clock: Clock;
  readonly origin: string;
  /** The most connections; calls beyond wait for one. */
  readonly connections: number;
  readonly client: Client.Options;
  /** A connection brought further bytes after the answer to this call. */
  readonly onAnsweredTwice: (last: CallProgress) => void;
  /** The other side closed a connection while it was idle after this call. */
  readonly onClosedIdle: (last: CallProgress) => void;
  readonly onCloseFailed: (error: unknown) => void;
}

/**
 * Connections that take one call at a time. The one used last is taken first, so that those not needed close.
 * With 64 calls in flight undici's own pool, which looks through all of them twice a call, cost an eighth of a call.
 */
export class HttpPool {
  readonly #options: HttpPoolOptions;
  readonly #clients = new Set<TrackedClient>();
  /** Those of them that have no call. */
  readonly #idle: TrackedClient[] = [];
  /** Ending, but perhaps not before their call has ended. */
  readonly #retired = new Set<Promise<void>>();
  readonly #waiting: { readonly request: Dispatcher.DispatchOptions; readonly call: HttpCall }[] =
    [];
  readonly #closed = Promise.withResolvers<void>();
  #isClosing = false;

  constructor(options: HttpPoolOptions) {
    this.#options = options;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Gives the call to a connection as soon as there is one. */
  dispatch(request: Dispatcher.DispatchOptions, call: HttpCall): void {
    if (this.#isClosing) {
      call.onResponseError(null, new errors.ClientClosedError());
      return;
    }
    this.#waiting.push({ request, call });
    this.#serve();
  }

  /** Takes no more calls; resolves when those in flight have ended and the connections are closed. Never rejects. */
  close(): Promise<void> {
    this.#isClosing = true;
    this.#serve();
    return this.#closed.promise;
  }

  #serve(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const client = this.#takeIdle() ?? this.#create();
      if (client === undefined) return;
      this.#waiting.shift();
      // The call ended unsent: undici may never say that the connection is free.
      if (client.send(next.request, next.call)) this.#retire(client);
    }
    if (this.#isClosing) this.#closeAll();
  }

  #takeIdle(): TrackedClient | undefined {
    for (let client = this.#idle.pop(); client !== undefined; client = this.#idle.pop()) {
      if (!this.#isOld(client)) return client;
      this.#retire(client);
    }
    return undefined;
  }

  #create(): TrackedClient | undefined {
    const { clock, origin, connections, client: options } = this.#options;
    if (this.#clients.size >= connections) {
      for (const client of this.#clients) if (this.#isOld(client)) this.#retire(client);
      if (this.#clients.size >= connections) return undefined;
    }
    const { onAnsweredTwice, onClosedIdle } = this.#options;
    const client = new TrackedClient(origin, options, { clock, onAnsweredTwice, onClosedIdle });
    client.on('drain', () => this.#freed(client));
    client.on('connectionError', () => {
      // Its call has failed; those that wait need another connection.
      this.#retire(client);
      this.#serve();
    });
    this.#clients.add(client);
    return client;
  }

  #freed(client: TrackedClient): void {
    if (!this.#clients.has(client)) return;
    this.#idle.push(client);
    this.#serve();
  }

  #isOld({ connectedAtMs }: TrackedClient): boolean {
    const { clock } = this.#options;
    return (
      connectedAtMs !== undefined && clock.monotonicMs() - connectedAtMs > CONNECTION_AGE_MS_MAX
    );
  }

  /** Ends a connection after its call. */
  #retire(client: TrackedClient): void {
    if (!this.#clients.delete(client)) return;
    const closed = client
      .close()
      .catch(this.#options.onCloseFailed)
      .finally(() => this.#retired.delete(closed));
    this.#retired.add(closed);
  }

  #closeAll(): void {
    for (const client of this.#clients) this.#retire(client);
    void Promise.all(this.#retired).then(() => this.#closed.resolve());
  }
}
