import { createSecureContext, DEFAULT_CIPHERS, type SecureContext, TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { createTcpOpener, type FindAddresses } from './addresses.ts';
import { resetWhenGivenUp } from './given-up.ts';
import { TlsMeter } from './tls-meter.ts';

/** Trusted authorities of the other end and the certificate of this end, in PEM. */
export interface TlsIdentity {
  /** Instead of the system's authorities. */
  readonly ca?: string | undefined;
  /** Sent if the other end requests it; goes together with `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Excludes finite-field Diffie-Hellman: the other end chooses the size, and with 8,192 bits each new
 * connection blocks this process for 20 ms (I7). Browsers have dropped it.
 */
const CIPHERS = `${DEFAULT_CIPHERS}:!DHE`;

/**
 * A resumed session shows no certificate: one that expires would be believed for as long as there are calls, and only a
 * process that starts later would refuse it. So a session is resumed for no longer than a connection is used.
 */
const SESSIONS_MS_MAX = 60_000;

const meter = new TlsMeter();

/**
 * Opens TCP connections and, to an `https:` origin, TLS on top of them. Separately, because only the
 * lower one counts the traffic of TLS itself. Each has `timeoutMs` to be established.
 *
 * @returns it throws where OpenSSL takes no such certificate or key, which `wallet.tls` has been asked about
 */
export function createOpener(how: {
  readonly timeoutMs: number;
  readonly tls: TlsIdentity | undefined;
  readonly find: FindAddresses;
  /** Of a monotonic clock; default: this process's. */
  readonly nowMs?: () => number;
}): buildConnector.connector {
  const openTcp = createTcpOpener(how.timeoutMs, how.find);
  const tlsOpener = createTlsOpeners(how);
  return (target, callback) => {
    const { hostname, port } = target;
    if (target.protocol !== 'https:') {
      openTcp(hostname, port || '80', (...opened) => {
        if (opened[0] === null) resetWhenGivenUp(opened[1], opened[1]);
        callback(...opened);
      });
      return;
    }
    const secure = tlsOpener();
    openTcp(hostname, port || '443', (...opened) => {
      if (opened[0] !== null) {
        callback(...opened);
        return;
      }
      const [, wire] = opened;
      secure({ ...target, httpSocket: wire }, (...secured) => {
        if (secured[1] instanceof TLSSocket) {
          meter.watch(wire, secured[1]);
          resetWhenGivenUp(secured[1], wire);
        }
        callback(...secured);
      });
    });
  };
}

/**
 * The TLS context is shared by all connections to one other end: with a file of forty authorities
 * each would parse (3 ms) and keep (280 KiB) its own. Each opener keeps the sessions of its connections.
 */
function createTlsOpeners(how: {
  readonly timeoutMs: number;
  readonly tls: TlsIdentity | undefined;
  readonly nowMs?: () => number;
}): () => buildConnector.connector {
  const { nowMs = () => performance.now() } = how;
  let secureContext: SecureContext | undefined;
  let current: { readonly open: buildConnector.connector; readonly sinceMs: number } | undefined;
  return () => {
    if (current !== undefined && nowMs() - current.sinceMs < SESSIONS_MS_MAX) return current.open;
    secureContext ??= createSecureContext({ ...how.tls, ciphers: CIPHERS });
    const open = buildConnector({
      timeout: how.timeoutMs,
      allowH2: false,
      // Overrides NODE_TLS_REJECT_UNAUTHORIZED: only the real wallet may get a bet.
      rejectUnauthorized: true,
      secureContext,
    });
    current = { open, sinceMs: nowMs() };
    return open;
  };
}
