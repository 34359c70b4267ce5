import { ADDRCONFIG, type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { createSecureContext, DEFAULT_CIPHERS, type SecureContext, TLSSocket } from 'node:tls';
import { buildConnector, errors } from 'undici';
import { isPublicAddress } from '../lib/public-address.ts';

/** Trusted authorities of the other end and the certificate of this end, in PEM. */
export interface TlsIdentity {
  /** Instead of the system's authorities. */
  readonly ca?: string | undefined;
  /** Sent if the other end requests it; goes together with `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface ConnectorOptions {
  /** Whether private, loopback and reserved addresses may be connected to. */
  readonly allowPrivate: boolean;
  /** For finding the address and connecting; the TLS handshake has as long again. */
  readonly timeoutMs: number;
  readonly tls?: TlsIdentity | undefined;
  /** Default: the system's resolver. */
  readonly addressesOf?: (hostname: string) => Promise<LookupAddress[]>;
  /** Of a monotonic clock; default: this process's. */
  readonly nowMs?: () => number;
}

/** A forbidden host. Thrown before a connection exists, so nothing was sent. */
class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS';

  constructor(hostname: string, address: string) {
    super(`${hostname} is ${address}, which is not a public address (wallet.allowPrivate is off)`);
    this.name = 'PrivateAddressError';
  }
}

/** Node gives an address up after this if there is another; its default of 250 ms excludes slow wallets. */
const NEXT_ADDRESS_AFTER_MS = 500;

/** No finite-field Diffie-Hellman: with 8,192 bits a connection blocks this process for 20 ms (I7). */
const CIPHERS = `${DEFAULT_CIPHERS}:!DHE`;

/** A resumed session shows no certificate, which may have expired since. A connection is used for as long. */
const SESSIONS_MS_MAX = 60_000;

/** Opens the connections of one wallet, unless `allowPrivate` only to public addresses, checked at the connection. */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const openTcp = buildConnector({
    timeout: options.timeoutMs,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    lookup: checkedLookup(options),
  });
  const tlsOpener = createTlsOpeners(options);
  return (target, callback) => {
    const { hostname, protocol } = target;
    // Node does not look addresses up.
    if (isIP(hostname) !== 0 && !isAllowed(hostname, options)) {
      process.nextTick(callback, new PrivateAddressError(hostname, hostname), null);
      return;
    }
    const openTls = protocol === 'https:' ? tlsOpener() : undefined;
    const port = target.port || (openTls === undefined ? '80' : '443');
    openTcp({ hostname, port, protocol: 'http:' }, (...opened) => {
      const [error, wire] = opened;
      if (error !== null || openTls === undefined) {
        if (error === null) resetWhenAborted(wire, wire);
        callback(...opened);
        return;
      }
      openTls({ ...target, httpSocket: wire }, (...secured) => {
        if (secured[1] instanceof TLSSocket) resetWhenAborted(secured[1], wire);
        callback(...secured);
      });
    });
  };
}

function isAllowed(address: string, { allowPrivate }: ConnectorOptions): boolean {
  return allowPrivate || isPublicAddress(address);
}

/** Refuses a name as soon as one of its addresses is forbidden. */
function checkedLookup(options: ConnectorOptions): LookupFunction {
  const { addressesOf = systemAddressesOf } = options;
  return (hostname, _options, done) => {
    addressesOf(hostname).then(
      (found) => {
        const forbidden = found.find(({ address }) => !isAllowed(address, options));
        if (forbidden) done(new PrivateAddressError(hostname, forbidden.address), []);
        else if (found.length === 0) done(new Error(`${hostname} has no address`), []);
        else done(null, found);
      },
      (error: Error) => done(error, []),
    );
  };
}

/** Queries under way. Each occupies a thread of this process: a silent name server gets one a name, not one a call. */
const queries = new Map<string, Promise<LookupAddress[]>>();

function systemAddressesOf(hostname: string): Promise<LookupAddress[]> {
  const known = queries.get(hostname);
  if (known !== undefined) return known;
  const query = lookup(hostname, { all: true, hints: ADDRCONFIG }).finally(() =>
    queries.delete(hostname),
  );
  queries.set(hostname, query);
  return query;
}

/** One TLS context for all connections: with forty authorities each would parse (3 ms) and keep (280 KiB) its own. */
function createTlsOpeners(options: ConnectorOptions): () => buildConnector.connector {
  const { timeoutMs, tls, nowMs = () => performance.now() } = options;
  let secureContext: SecureContext | undefined;
  let current: { readonly open: buildConnector.connector; readonly sinceMs: number } | undefined;
  return () => {
    if (current !== undefined && nowMs() - current.sinceMs < SESSIONS_MS_MAX) return current.open;
    secureContext ??= createSecureContext({ ...tls, ciphers: CIPHERS });
    const open = buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      // Overrides NODE_TLS_REJECT_UNAUTHORIZED: only the real wallet may get a bet.
      rejectUnauthorized: true,
      secureContext,
    });
    current = { open, sinceMs: nowMs() };
    return open;
  };
}

/**
 * Resets the connection of an aborted call: closed as usual, the system would go on sending for a minute, and a
 * bet could arrive behind its rollback (I11). @param wire the TCP connection; without TLS the same as `socket`
 */
function resetWhenAborted(socket: Socket, wire: Socket): void {
  const destroy = socket.destroy.bind(socket);
  const destroyWire = wire.destroy.bind(wire);
  let reason: Error | undefined;
  const destroyForReason = () => destroy(reason);
  const resetWire = () => {
    wire.destroy = destroyWire;
    return wire.resetAndDestroy();
  };
  const destroyOrReset = (error?: Error) => {
    const isAborted = error instanceof errors.InformationalError && error.message === 'aborted';
    // Node cannot reset what it is ending already; the other side has closed it then.
    if (!isAborted || wire.writableEnded) return destroy(error);
    if (wire === socket) {
      reason = error;
      socket.destroy = destroyForReason;
      return socket.resetAndDestroy();
    }
    // TLS leaves the end to the connection below it.
    wire.destroy = resetWire;
    return destroy(error);
  };
  socket.destroy = destroyOrReset;
}
