import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '../domain/clock.ts';
import { unreachable } from '../domain/unreachable.ts';
import { AcceptQueue, BACKLOG } from '../http/accept-queue.ts';
import { EventLoopLag } from '../http/arrival.ts';
import { openFilesMax } from '../http/descriptors.ts';
import type { FromGivenServer, ToGivenServer } from '../http/given-server.ts';
import { takeWaiting } from '../http/take-waiting.ts';
import { waitingAt } from '../http/waiting-connections.ts';
import { errorMessage } from '../lib/faults.ts';
import { machineMs } from '../lib/machine-clock.ts';
import { within } from '../lib/within.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * Whoever has waited for this long lets younger ones go first. A callback has less than five seconds, so in a queue of
 * several, whose callers have hung up and come again, everybody would be too late, for as long as the queue lasts.
 */
const LONG_MS = 1_000;

/** Within this, workers that do not hang take all connections accepted before the close. */
const GIVE_MS = 1_000;

interface Waiting {
  readonly socket: Socket;
  /** The earliest time at which it can have arrived, on the clock of `machineMs`. */
  readonly sinceMs: number;
}

/**
 * The public port of several worker processes: accepts connections and gives them to the workers in turn;
 * each gets the next one when it has taken the last. A connection is given with the time since which it has
 * waited: Node's own sharing of a port does not tell that, and a worker would treat a request as new
 * although its sender has long given up.
 */
export class PublicPort {
  readonly #at: { readonly host: string; readonly port: number };
  readonly #logger: Logger;
  readonly #lag = new EventLoopLag(systemClock);
  readonly #queue = new AcceptQueue(systemClock, () => waitingAt(this.#server));
  /** The oldest first. */
  readonly #waiting: Waiting[] = [];
  /** Those that have waited for long, the oldest first. */
  readonly #late: Waiting[] = [];
  readonly #taking = new Set<Worker>();
  /** Workers that have taken their last connection; the longest idle first. */
  readonly #free = new Set<Worker>();
  /** The connection each was given and has not taken yet, kept open: a worker that dies may never have received it. */
  readonly #given = new Map<Worker, Waiting>();
  readonly #waitingMax: number;
  #server: Server | undefined;
  #opened: Promise<AddressInfo> | undefined;
  /** `closing`: no connection is accepted any more, and those already accepted are still given. */
  #state: 'open' | 'closing' | 'closed' = 'open';
  readonly #allTaken = Promise.withResolvers<void>();

  constructor(at: { readonly host: string; readonly port: number }, logger: Logger) {
    this.#at = at;
    this.#logger = logger;
    // This process needs files for its own connections as well.
    this.#waitingMax = Math.min(BACKLOG, Math.ceil(openFilesMax() / 2));
  }

  /**
   * Acts on a worker's message about itself.
   * @param onTaking called once the worker takes connections
   */
  async heard(
    worker: Worker,
    { givenServer }: FromGivenServer,
    onTaking: () => void,
  ): Promise<void> {
    switch (givenServer) {
      case 'listen':
        await this.#begin(worker, onTaking);
        return;
      case 'taken':
        this.#given.get(worker)?.socket.destroy();
        this.#given.delete(worker);
        if (this.#taking.has(worker)) this.#free.add(worker);
        this.#give();
        return;
      case 'close':
        this.left(worker);
        return;
      default:
        unreachable(givenServer);
    }
  }

  /** Call it when a worker takes no more connections. */
  left(worker: Worker): void {
    this.#taking.delete(worker);
    this.#free.delete(worker);
  }

  /** Call it when a worker has ended: a connection that it was given and did not take goes to the next. */
  ended(worker: Worker): void {
    this.left(worker);
    const given = this.#given.get(worker);
    this.#given.delete(worker);
    if (given === undefined) return;
    if (this.#state === 'closed') given.socket.destroy();
    else this.#waiting.unshift(given);
    this.#give();
  }

  /**
   * Stops accepting. Resolves when the workers, which have to work until then, have taken all accepted connections;
   * those that none of them takes in time are closed unread.
   */
  async close(): Promise<void> {
    this.#state = 'closing';
    const endsAtMs = performance.now() + GIVE_MS;
    // Connections that still wait to be accepted would be reset.
    await takeWaiting(this.#server, GIVE_MS / 2);
    this.#server?.close();
    this.#give();
    // Workers that hang take nothing.
    const leftMs = endsAtMs - performance.now();
    await within(leftMs, this.#allTaken.promise).catch(() => undefined);
    this.#state = 'closed';
    this.#lag.close();
    for (const { socket } of [...this.#waiting.splice(0), ...this.#late.splice(0)])
      socket.destroy();
  }

  async #begin(worker: Worker, onTaking: () => void): Promise<void> {
    // A worker that starts while all of them are ending: the port is not opened for it.
    if (this.#state !== 'open') return;
    this.#opened ??= this.#open();
    try {
      tell(worker, { publicPort: await this.#opened });
    } catch (error) {
      this.#opened = undefined;
      tell(worker, { noPublicPort: errorMessage(error) });
      return;
    }
    onTaking();
    this.#taking.add(worker);
    this.#free.add(worker);
    this.#give();
  }

  async #open(): Promise<AddressInfo> {
    const server = createServer({ pauseOnConnect: true, noDelay: true });
    this.#server = server;
    server.on('connection', (socket) => this.#accepted(socket));
    await once(server.listen({ ...this.#at, backlog: BACKLOG }), 'listening');
    // Concerns one connection that could not be accepted, for example because too many files are open.
    server.on('error', (err) => this.#logger.warn({ err }, 'cluster.not_accepted'));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP port');
    return address;
  }

  #accepted(socket: Socket): void {
    this.#lag.connected();
    const waitedMs = systemClock.monotonicMs() - this.#queue.accepted(this.#lag.currentMs());
    // The socket is not read here; the worker that takes it notices the error itself.
    socket.on('error', () => socket.destroy());
    if (this.#waiting.length + this.#late.length >= this.#waitingMax) {
      const oldest = this.#late.shift();
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      oldest.socket.destroy();
    }
    this.#waiting.push({ socket, sinceMs: machineMs() - waitedMs });
    this.#give();
  }

  #give(): void {
    for (const worker of this.#free) {
      const next = this.#next();
      if (next === undefined) break;
      this.#free.delete(worker);
      this.#given.set(worker, next);
      tell(worker, { givenSinceMs: next.sinceMs }, next.socket);
    }
    const isTaken = this.#waiting.length + this.#late.length + this.#given.size === 0;
    if (isTaken && this.#state === 'closing') this.#allTaken.resolve();
  }

  #next(): Waiting | undefined {
    const longSinceMs = machineMs() - LONG_MS;
    for (
      let [first] = this.#waiting;
      first !== undefined && first.sinceMs < longSinceMs;
      [first] = this.#waiting
    ) {
      this.#waiting.shift();
      this.#late.push(first);
    }
    return this.#waiting.shift() ?? this.#late.shift();
  }
}

/** The pipe breaks a moment before the worker's end is known; whatever is in it then counts as not taken. */
function tell(worker: Worker, message: ToGivenServer, socket?: Socket): void {
  worker.send(message, socket, { keepOpen: true }, () => undefined);
}
