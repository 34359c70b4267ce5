import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../domain/clock.ts';
import { recentMap } from '../lib/recent.ts';
import { senderAddress } from './address-matcher.ts';

/** What an address or an operator may send without a valid signature: at once, and per millisecond. */
const BYTES_MAX = 16 * 1024 * 1024;
const BYTES_PER_MS = 2 * 1024;
/** The processor time of a request and of each piece of its body, as bytes: 256 requests a second. */
const REQUEST_BYTES = 8 * 1024;
const PIECE_BYTES = 1024;
/** An address that the service has called from is not limited for this long: others may share its proxy. */
const TRUSTED_MS = 600_000;
const ADDRESSES_MAX = 10_000;
const ADDRESS_CHARACTERS_MAX = 64;

export interface StrangerOptions {
  readonly clock: Clock;
  readonly maxConnections: () => number;
  /** Whether an address is that of a proxy in front, whose connections carry the requests of many. */
  readonly isProxy: (address: string | undefined) => boolean;
  /** The longest body that is read. */
  readonly bodyBytesMax: number;
}

interface Budget {
  bytes: number;
  atMs: number;
  trustedUntilMs: number;
}

interface Cost {
  readonly budget: Budget;
  readonly bytes: number;
}

/** Limits what anybody but the service costs before a signature is verified (I7, I11), by address or operator. */
export class Strangers {
  readonly #options: StrangerOptions;
  #open = 0;
  /** Connections by address or operator, the one that was quiet longest first. The service's are in none. */
  readonly #holders = new Map<string, Set<Socket>>();
  readonly #holderOf = new WeakMap<Socket, string>();
  readonly #budgets = recentMap<Budget>(ADDRESSES_MAX);
  readonly #costs = new WeakMap<IncomingMessage, Cost>();

  constructor(options: StrangerOptions) {
    this.#options = options;
  }

  /** The signature is valid: the connection is its owner's from now on. @param operatorId undefined: the service */
  trust(request: IncomingMessage, operatorId: string | undefined): void {
    const { socket } = request;
    const cost = this.#costs.get(request);
    if (cost !== undefined) {
      cost.budget.bytes += cost.bytes;
      if (operatorId === undefined) cost.budget.trustedUntilMs = this.#nowMs() + TRUSTED_MS;
    }
    if (this.#holderOf.get(socket) === undefined) return;
    this.#leave(socket);
    if (operatorId !== undefined) this.#join(socket, `operator ${operatorId}`);
  }

  opened(socket: Socket): void {
    this.#open += 1;
    socket.once('close', () => {
      this.#open -= 1;
      this.#leave(socket);
    });
    this.#join(socket, networkOf(socket.remoteAddress));
    if (this.#open <= this.#options.maxConnections()) return;
    this.#close(this.#longestQuietOfMost() ?? socket);
  }

  /** Whether a request of which only the head is known may be processed; if not, its connection is closed. */
  admits(request: IncomingMessage): boolean {
    const { socket, headers } = request;
    if (socket.destroyed) return false;
    const holder = this.#holderOf.get(socket);
    const { isProxy } = this.#options;
    if (holder !== undefined) this.#join(socket, holder);
    const key = isProxy(socket.remoteAddress) ? networkOf(senderAddress(request, isProxy)) : holder;
    if (key === undefined) return true;
    const budget = this.#budgetOf(key);
    if (this.#nowMs() < budget.trustedUntilMs) return true;
    const bytes = REQUEST_BYTES + announcedBytes(headers, this.#options.bodyBytesMax);
    if (bytes > budget.bytes) {
      this.#close(socket);
      return false;
    }
    budget.bytes -= bytes;
    this.#costs.set(request, { budget, bytes });
    return true;
  }

  /** Call it for each piece of a body: one in tiny pieces costs as much as many requests. */
  piece(request: IncomingMessage): void {
    const budget = this.#costs.get(request)?.budget;
    if (budget === undefined) return;
    budget.bytes -= PIECE_BYTES;
    if (budget.bytes < 0) this.#close(request.socket);
  }

  #budgetOf(key: string): Budget {
    const nowMs = this.#nowMs();
    const budget = this.#budgets.get(key) ?? { bytes: BYTES_MAX, atMs: nowMs, trustedUntilMs: 0 };
    const gained = (nowMs - budget.atMs) * BYTES_PER_MS;
    budget.bytes = Math.min(BYTES_MAX, budget.bytes + gained);
    budget.atMs = nowMs;
    this.#budgets.set(key, budget);
    return budget;
  }

  #join(socket: Socket, holder: string): void {
    this.#leave(socket);
    const sockets = this.#holders.get(holder) ?? new Set();
    this.#holders.set(holder, sockets.add(socket));
    this.#holderOf.set(socket, holder);
  }

  #leave(socket: Socket): void {
    const holder = this.#holderOf.get(socket);
    if (holder === undefined) return;
    this.#holderOf.delete(socket);
    const sockets = this.#holders.get(holder);
    sockets?.delete(socket);
    if (sockets?.size === 0) this.#holders.delete(holder);
  }

  #longestQuietOfMost(): Socket | undefined {
    let most: ReadonlySet<Socket> = new Set();
    for (const sockets of this.#holders.values()) if (sockets.size > most.size) most = sockets;
    const [longest] = most;
    return longest;
  }

  #close(socket: Socket): void {
    if (socket.destroyed) return;
    this.#leave(socket);
    socket.destroy();
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

/** An address; of IPv6 the network, which one sender has for itself. */
function networkOf(address = ''): string {
  const isIpv6 = address.includes(':') && !address.includes('.');
  const network = isIpv6 ? address.split(':', 4).join(':') : address;
  return network.slice(0, ADDRESS_CHARACTERS_MAX);
}

/** A chunked body does not say its length, and a longer one is refused unread. */
function announcedBytes(headers: IncomingHttpHeaders, bodyBytesMax: number): number {
  if (headers['transfer-encoding'] !== undefined) return bodyBytesMax;
  return Math.min(bodyBytesMax, Number(headers['content-length'] ?? 0));
}
