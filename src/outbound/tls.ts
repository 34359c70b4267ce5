import type { LookupFunction } from 'node:net';
import { createSecureContext, DEFAULT_CIPHERS, TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import { TlsMeter } from './tls-meter.ts';

/** Who may be at the other end, and who is at this one; all PEM. */
export interface TlsIdentity {
  /** Instead of the system's authorities. */
  readonly ca?: string | undefined;
  /** Shown where the other end asks for it; goes together with `key`. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/**
 * Without Diffie-Hellman over finite fields: the other end says how long its numbers are, and with
 * 8,192 bits each new connection holds this process for 20 ms (I7). Browsers have given it up.
 */
const CIPHERS = `${DEFAULT_CIPHERS}:!DHE`;

const meter = new TlsMeter();

/**
 * Opens TCP connections and, to an `https:` origin, TLS above them. The two apart, because only the
 * lower one counts what comes for TLS itself. Each has `timeoutMs` to come about.
 *
 * @returns it throws where OpenSSL takes no such certificate or key, which `wallet.tls` has been asked about
 */
export function createOpener(how: {
  readonly timeoutMs: number;
  readonly tls: TlsIdentity | undefined;
  readonly lookup: LookupFunction;
}): buildConnector.connector {
  const openTcp = buildConnector({ timeout: how.timeoutMs, lookup: how.lookup });
  let openTls: buildConnector.connector | undefined;
  return (target, callback) => {
    if (target.protocol !== 'https:') {
      openTcp(target, callback);
      return;
    }
    openTls ??= createTls(how);
    const secure = openTls;
    const { hostname, port } = target;
    openTcp({ protocol: 'http:', hostname, port: port || '443' }, (...opened) => {
      if (opened[0] !== null) {
        callback(...opened);
        return;
      }
      const [, wire] = opened;
      secure({ ...target, httpSocket: wire }, (...secured) => {
        if (secured[1] instanceof TLSSocket) meter.watch(wire, secured[1]);
        callback(...secured);
      });
    });
  };
}

/**
 * What all connections to one other end have in common is made once: with a file of forty authorities
 * each would read them anew (3 ms) and keep them (280 KiB).
 */
function createTls(how: {
  readonly timeoutMs: number;
  readonly tls: TlsIdentity | undefined;
}): buildConnector.connector {
  return buildConnector({
    timeout: how.timeoutMs,
    allowH2: false,
    // Whatever the environment says (NODE_TLS_REJECT_UNAUTHORIZED): who is not the wallet gets no bet.
    rejectUnauthorized: true,
    secureContext: createSecureContext({ ...how.tls, ciphers: CIPHERS }),
  });
}
