import type { LookupAddress } from 'node:dns';
import { connect, isIP, isIPv6, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { type buildConnector, errors } from 'undici';
import { errorOfAll, withoutIPv6 } from './error-words.ts';

/** An address that has not answered for this long is no longer waited for alone (RFC 8305). */
const NEXT_AFTER_MS = 250;
/** Each takes a file that a caller may need: for a further one, the address tried first is given up. */
const AT_ONCE_MAX = 2;
/** As undici's own connections. */
const SOCKET_OPTIONS = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 } as const;

/** Finds the addresses of a name, in the order of preference. */
export type FindAddresses = (
  hostname: string,
  done: (error: Error | null, found: readonly LookupAddress[]) => void,
) => void;

type Opened = buildConnector.Callback;

/**
 * Opens TCP connections by name. Node itself gives an address up after 250 ms if the name has another one, though that
 * may be of a family that this machine cannot reach: no wallet that is further away, or whose first packet was lost,
 * would be reached.
 *
 * @param timeoutMs for each connection, including finding the addresses
 */
export function createTcpOpener(
  timeoutMs: number,
  find: FindAddresses,
): (hostname: string, port: string, opened: Opened) => void {
  return (hostname, port, opened) => {
    const race = new Race(Number(port), opened);
    race.endAfter(timeoutMs, `no connection to ${hostname}:${port} within ${timeoutMs} ms`);
    if (isIP(hostname) !== 0) race.run([hostname]);
    else {
      find(hostname, (error, found) => {
        if (error !== null) race.end(error, null);
        else race.run(inTurns(found));
      });
    }
  };
}

/** Both families in turns, beginning with the first address: all of a family may be out of reach. */
function inTurns(found: readonly LookupAddress[]): string[] {
  const preferred = found.filter(({ family }) => family === found[0]?.family);
  const others = found.filter(({ family }) => family !== found[0]?.family);
  return found
    .flatMap((_, at) => [preferred[at], others[at]])
    .flatMap((one) => (one === undefined ? [] : [one.address]));
}

/** Connects to several addresses, each a little later than the one before. The first connection is used. */
class Race {
  readonly #port: number;
  #opened: Opened | undefined;
  #addresses: readonly string[] = [];
  /** How many addresses have been tried. */
  #tried = 0;
  /** Sockets that are connecting, by the address's position, the one tried first first. */
  readonly #connecting = new Map<number, Socket>();
  readonly #errors = new Map<number, Error>();
  #next: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;

  constructor(port: number, opened: Opened) {
    this.#port = port;
    this.#opened = opened;
  }

  endAfter(limitMs: number, error: string): void {
    const end = () => this.end(new errors.ConnectTimeoutError(error), null);
    // After a look at the connections: while this process was busy or suspended, one may have been made.
    this.#limit = setTimeout(() => setImmediate(end), limitMs);
  }

  run(addresses: readonly string[]): void {
    if (this.#opened === undefined) return;
    this.#addresses = addresses;
    this.#tryNext();
  }

  end(...result: Parameters<Opened>): void {
    const opened = this.#opened;
    this.#opened = undefined;
    clearTimeout(this.#limit);
    clearTimeout(this.#next);
    for (const loser of this.#connecting.values()) loser.destroy();
    opened?.(...result);
  }

  #tryNext(): void {
    clearTimeout(this.#next);
    const at = this.#tried;
    const host = this.#addresses[at];
    if (host === undefined) {
      if (this.#connecting.size === 0) this.end(errorOfAll(this.#errorsInOrder()), null);
      return;
    }
    this.#tried += 1;
    this.#giveUpOldest();
    const socket = connect({ host, port: this.#port, ...SOCKET_OPTIONS });
    this.#connecting.set(at, socket);
    socket.once('connect', () => {
      if (this.#connecting.delete(at)) this.end(null, socket);
    });
    // Kept afterwards: until its user listens, an error must not end the process.
    socket.on('error', (error) => {
      if (this.#connecting.delete(at)) this.#failed(at, inWords(error, host));
    });
    if (this.#tried < this.#addresses.length) {
      this.#next = setTimeout(() => this.#tryNext(), NEXT_AFTER_MS);
    }
  }

  #giveUpOldest(): void {
    const [oldest] = this.#connecting;
    if (this.#connecting.size < AT_ONCE_MAX || oldest === undefined) return;
    const [at, socket] = oldest;
    this.#connecting.delete(at);
    socket.destroy();
    const error = new Error(`connect ETIMEDOUT ${this.#addresses[at]}:${this.#port}`);
    this.#errors.set(at, Object.assign(error, { code: 'ETIMEDOUT' }));
  }

  #failed(at: number, error: Error): void {
    this.#errors.set(at, error);
    this.#tryNext();
  }

  #errorsInOrder(): Error[] {
    return [...this.#errors].sort(([a], [b]) => a - b).map(([, error]) => error);
  }
}

function inWords(error: Error, host: string): Error {
  return isIPv6(host) && !hasIPv6() ? withoutIPv6(error) : error;
}

function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses) =>
    addresses?.some(({ family, internal }) => family === 'IPv6' && !internal),
  );
}
