import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { systemClock } from './domain/clock.ts';
import { unreachable } from './domain/unreachable.ts';
import { AcceptQueue, BACKLOG } from './http/accept-queue.ts';
import { EventLoopLag } from './http/arrival.ts';
import { openFilesMax } from './http/descriptors.ts';
import type { FromGivenServer, ToGivenServer } from './http/given-server.ts';
import { takeWaiting } from './http/take-waiting.ts';
import { waitingAt } from './http/waiting-connections.ts';
import { machineMs } from './lib/machine-clock.ts';
import { within } from './lib/within.ts';
import type { Logger } from './telemetry/logger.ts';

/** Workers that work take what has come by then within this. */
const GIVE_MS = 1_000;

interface Waiting {
  readonly socket: Socket;
  /** It came no earlier than this, as `machineMs` has it. */
  readonly sinceMs: number;
}

/**
 * The public port of several worker processes: accepts its connections and gives them to the workers in turn,
 * each the next one when it has taken the last. Connections that wait for a busy worker are given with the time
 * since when they wait: Node's own sharing of a port keeps that to itself, and a worker would take a
 * request for new whose sender has long given up.
 */
export class PublicPort {
  readonly #at: { readonly host: string; readonly port: number };
  readonly #logger: Logger;
  readonly #lag = new EventLoopLag(systemClock);
  readonly #queue = new AcceptQueue(systemClock, () => waitingAt(this.#server));
  /** The oldest first. */
  readonly #waiting: Waiting[] = [];
  readonly #taking = new Set<Worker>();
  /** Those of them that have taken their last; the one that waits for longest first. */
  readonly #free = new Set<Worker>();
  /** What each was given and has not taken yet. It stays open here: a worker that dies may never have had it. */
  readonly #given = new Map<Worker, Waiting>();
  readonly #waitingMax: number;
  #server: Server | undefined;
  #opened: Promise<AddressInfo> | undefined;
  /** `closing`: nothing is accepted any more, and what has been is still given. */
  #state: 'open' | 'closing' | 'closed' = 'open';
  readonly #allTaken = Promise.withResolvers<void>();

  constructor(at: { readonly host: string; readonly port: number }, logger: Logger) {
    this.#at = at;
    this.#logger = logger;
    // The files of this process are for its own connections as well.
    this.#waitingMax = Math.min(BACKLOG, Math.ceil(openFilesMax() / 2));
  }

  /**
   * What a worker says of itself.
   * @param onTaking called once it takes connections
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

  /** It takes no more connections. */
  left(worker: Worker): void {
    this.#taking.delete(worker);
    this.#free.delete(worker);
  }

  /** It has ended: what it was given and did not take is for the next. */
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
   * Nothing is accepted any more. Resolves when the workers, which have to work until then, have taken what has been;
   * what none of them takes in time is closed, unread.
   */
  async close(): Promise<void> {
    this.#state = 'closing';
    const endsAtMs = performance.now() + GIVE_MS;
    // It would be reset.
    await takeWaiting(this.#server, GIVE_MS / 2);
    this.#server?.close();
    this.#give();
    // Workers that hang take nothing.
    const leftMs = endsAtMs - performance.now();
    await within(leftMs, this.#allTaken.promise).catch(() => undefined);
    this.#state = 'closed';
    this.#lag.close();
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
  }

  async #begin(worker: Worker, onTaking: () => void): Promise<void> {
    // A worker that begins while all of them end: the port is not opened for it.
    if (this.#state !== 'open') return;
    this.#opened ??= this.#open();
    try {
      tell(worker, { publicPort: await this.#opened });
    } catch (error) {
      this.#opened = undefined;
      tell(worker, { noPublicPort: error instanceof Error ? error.message : String(error) });
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
    // Of one connection that could not be accepted, as where too many files are open.
    server.on('error', (err) => this.#logger.warn({ err }, 'cluster.not_accepted'));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no TCP port');
    return address;
  }

  #accepted(socket: Socket): void {
    this.#lag.connected();
    const waitedMs = systemClock.monotonicMs() - this.#queue.accepted(this.#lag.currentMs());
    // It is not read here; whatever becomes of it, the worker that takes it finds out.
    socket.on('error', () => socket.destroy());
    if (this.#waiting.length >= this.#waitingMax) {
      socket.destroy();
      return;
    }
    this.#waiting.push({ socket, sinceMs: machineMs() - waitedMs });
    this.#give();
  }

  #give(): void {
    for (const worker of this.#free) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      this.#free.delete(worker);
      this.#given.set(worker, next);
      tell(worker, { givenSinceMs: next.sinceMs }, next.socket);
    }
    const isTaken = this.#waiting.length === 0 && this.#given.size === 0;
    if (isTaken && this.#state === 'closing') this.#allTaken.resolve();
  }
}

/** The pipe breaks a moment before its end is known; what was in it is known then not to have been taken. */
function tell(worker: Worker, message: ToGivenServer, socket?: Socket): void {
  worker.send(message, socket, { keepOpen: true }, () => undefined);
}
