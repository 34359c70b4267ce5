import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import { Parties, STRANGERS } from './parties.ts';
import { readInSmallPieces } from './small-pieces.ts';

/** Limits for unauthenticated callers ("strangers"), per process (`http` in gateway.yaml). */
export interface ConnectionLimits {
  readonly maxConnections: number;
  /** How long a connection without a signed request may stay idle. */
  readonly strangerIdleMs: number;
  /** Bytes of all bodies that are still arriving. */
  readonly arrivingBytesMax: number;
}

/**
 * Why a connection was closed from this side. `pieces`: a body in tiny chunks, each of which costs
 * as much as a request; `pipelined`: more requests than clients send without waiting for an answer.
 */
export type Closed = 'idle' | 'full' | 'memory' | 'pieces' | 'pipelined';

export interface ConnectionsOptions {
  readonly clock: Clock;
  readonly limits: () => ConnectionLimits;
  /**
   * Whether an address is that of a proxy in front. Its idle connections are left open: it keeps them for all its callers,
   * and the next request there, perhaps the service's, may be on its way. Default: there is none.
   */
  readonly isProxy?: (address: string) => boolean;
  readonly onClosed: (why: Closed) => void;
}

/** How often idle unauthenticated connections are looked for. */
const SWEEP_MS = 500;

/** Memory of a piece of a body besides its bytes: many small pieces take more than they contain. */
const PIECE_OVERHEAD_BYTES = 256;

/** A body up to this size is accepted from anybody: no callback of the service comes near it. */
const SHORT_BODY_BYTES = 16 * 1024;

/**
 * Per second, long bodies of this share of `arrivingBytesMax` may begin: for all unauthenticated callers
 * together, and for each operator. The memory of an aborted body is freed only by garbage collection:
 * without this limit, callers that reconnect repeatedly would fill the memory with bodies that no longer
 * arrive.
 */
const LONG_SHARE_PER_SECOND = 0.25;

/**
 * A body may come in this many pieces, plus one for each `BYTES_PER_FURTHER_PIECE` bytes: a slow writer
 * flushes every word, a small packet holds 536 bytes. Each piece costs some microseconds, however
 * small it is: 250,000 of them in one body took the processor for more than a second.
 */
const PIECES_MAX = 256;
const BYTES_PER_FURTHER_PIECE = 256;

/** Requests on one connection that wait for their answers; no known client sends a second one. */
const UNDER_WAY_MAX = 8;

interface ArrivingBody {
  bytes: number;
  pieces: number;
}

/** Bytes of a party's recent long bodies, less what the rate has allowed since. */
interface LongBodies {
  bytes: number;
  atMs: number;
}

/**
 * The connections of the public listener. The service's are never closed in favour of others. At the limit,
 * idle connections of unauthenticated callers, or of the operator that has the most, are closed: a
 * thousand silent connections, or bodies that never end, must neither keep the service out nor fill
 * the memory (I7).
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #timer: NodeJS.Timeout;
  #open = 0;
  /** All but the service's. */
  readonly #parties = new Parties();
  /** Requests that wait for their answers. */
  readonly #underWay = new WeakMap<Socket, IncomingMessage[]>();
  /** Closed by this side; the parser may still hold some data of them. */
  readonly #closed = new WeakSet<Socket>();
  /** Bodies still arriving, the oldest first, with what they hold. */
  readonly #arriving = new Map<Socket, ArrivingBody>();
  #arrivingBytes = 0;
  readonly #longBodies = new Map<string, LongBodies>();

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options;
    server.on('connection', (socket: Socket) => this.#opened(socket));
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS).unref();
    server.on('close', () => clearInterval(this.#timer));
  }

  /**
   * A request with a valid signature came on this connection.
   * @param operatorId undefined: the service
   */
  trust(socket: Socket, operatorId?: string): void {
    const isServices = this.#parties.of(socket) === undefined;
    if (operatorId === undefined) this.#parties.leave(socket);
    else if (!isServices) this.#parties.join(operatorId, socket, this.#nowMs());
  }

  /**
   * A request has arrived, of which only the head is known.
   * @returns whether it may be processed; if not, its connection is closed
   */
  began(request: IncomingMessage): boolean {
    const { socket } = request;
    if (this.#closed.has(socket)) return false;
    // Not idle while the rest of it comes, for which it has a limit of its own.
    this.#parties.touch(socket, this.#nowMs());
    const underWay = this.#underWay.get(socket);
    if (underWay === undefined) this.#underWay.set(socket, [request]);
    else underWay.push(request);
    const count = underWay?.length ?? 1;
    if (count <= UNDER_WAY_MAX || this.#parties.of(socket) === undefined) return true;
    this.#close(socket, 'pipelined');
    return false;
  }

  /** A request has been answered: its sender's idle time begins again. */
  answered(request: IncomingMessage): void {
    const { socket } = request;
    const underWay = this.#underWay.get(socket) ?? [];
    const at = underWay.indexOf(request);
    if (at >= 0) underWay.splice(at, 1);
    this.#parties.touch(socket, this.#nowMs());
  }

  /** Whether a complete request on this connection has not been answered yet. */
  owesAnswer(socket: Socket): boolean {
    return this.#underWay.get(socket)?.some(({ complete }) => complete) === true;
  }

  /**
   * This many bytes of body will follow. A long body that exceeds its party's share is not read:
   * its connection is closed.
   */
  announced(socket: Socket, bytes: number): void {
    const party = this.#parties.of(socket);
    if (bytes <= SHORT_BODY_BYTES || party === undefined) return;
    const { arrivingBytesMax } = this.#options.limits();
    const nowMs = this.#nowMs();
    const before = this.#longBodies.get(party) ?? { bytes: 0, atMs: nowMs };
    const pacePerMs = (arrivingBytesMax * LONG_SHARE_PER_SECOND) / 1_000;
    const left = Math.max(0, before.bytes - (nowMs - before.atMs) * pacePerMs);
    const fits = left + bytes <= arrivingBytesMax;
    this.#longBodies.set(party, { bytes: fits ? left + bytes : left, atMs: nowMs });
    if (!fits) this.#close(socket, 'memory');
  }

  /** A piece of a body has come. */
  arrived(socket: Socket, bytes: number): void {
    const body = this.#arriving.get(socket) ?? { bytes: 0, pieces: 0 };
    body.bytes += bytes;
    body.pieces += 1;
    this.#arriving.set(socket, body);
    this.#arrivingBytes += bytes + PIECE_OVERHEAD_BYTES;
    const isCrumbs = body.pieces > PIECES_MAX + body.bytes / BYTES_PER_FURTHER_PIECE;
    if (isCrumbs && this.#parties.of(socket) !== undefined) this.#close(socket, 'pieces');
    const { arrivingBytesMax } = this.#options.limits();
    // The oldest are those that never end: an honest sender sends its body within a moment.
    for (const oldest of this.#arriving.keys()) {
      if (this.#arrivingBytes <= arrivingBytesMax) return;
      this.#close(oldest, 'memory');
    }
  }

  /** The body is complete, or never will be. */
  arrivedWhole(socket: Socket): void {
    const body = this.#arriving.get(socket);
    if (body === undefined) return;
    this.#arrivingBytes -= body.bytes + body.pieces * PIECE_OVERHEAD_BYTES;
    this.#arriving.delete(socket);
  }

  #opened(socket: Socket): void {
    this.#open += 1;
    readInSmallPieces(socket);
    socket.once('close', () => {
      this.#open -= 1;
      this.#forget(socket);
    });
    this.#parties.join(STRANGERS, socket, this.#nowMs());
    if (this.#open <= this.#options.limits().maxConnections) return;
    // Closes the new connection itself if there is no other candidate.
    this.#close(this.#parties.longestIdleOfMost() ?? socket, 'full');
  }

  #sweep(): void {
    const idleSinceMax = this.#nowMs() - this.#options.limits().strangerIdleMs;
    for (const [socket, idleSinceMs] of this.#parties.membersOf(STRANGERS)) {
      if (idleSinceMs > idleSinceMax) return;
      if (!this.#isOfProxy(socket)) this.#close(socket, 'idle');
    }
  }

  #isOfProxy({ remoteAddress }: Socket): boolean {
    const { isProxy } = this.#options;
    return remoteAddress !== undefined && isProxy?.(remoteAddress) === true;
  }

  #close(socket: Socket, why: Closed): void {
    // Destroyed but not closed yet: no longer counted from now on.
    this.#forget(socket);
    this.#closed.add(socket);
    socket.destroy();
    this.#options.onClosed(why);
  }

  #forget(socket: Socket): void {
    this.#parties.leave(socket);
    this.arrivedWhole(socket);
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}
