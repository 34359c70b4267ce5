import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createConnector, type TlsIdentity } from './connector.ts';

/** The facts of a TLS certificate that are shown to people. */
export interface TlsCertificate {
  /** As in the certificate, `CN=wallet.example`; one line per part. */
  readonly subject: string;
  readonly issuer: string;
  /** ISO 8601 UTC, both. */
  readonly validFrom: string;
  readonly validTo: string;
  /** Of the whole certificate, hexadecimal. */
  readonly sha256: string;
}

interface Peer {
  readonly baseUrl: string;
  readonly allowPrivate: boolean;
  readonly tls?: TlsIdentity | undefined;
  readonly timeoutMs: number;
  /** The `Host` header of its calls, if configured: TLS requests that name and accepts no other certificate. */
  readonly site?: string | undefined;
}

/**
 * The certificate that a wallet presents to calls. Sends nothing but the handshake; never rejects.
 * @returns null without TLS, or if no connection can be made
 */
export async function peerCertificate(peer: Peer): Promise<TlsCertificate | null> {
  const { protocol, hostname: bracketed, host, port } = new URL(peer.baseUrl);
  if (protocol !== 'https:') return null;
  const hostname = bracketed.replace(/^\[(.*)\]$/, '$1');
  const connect = createConnector({
    allowPrivate: peer.allowPrivate,
    timeoutMs: peer.timeoutMs,
    tls: peer.tls,
  });
  return await new Promise((resolve) => {
    const servername = nameOf(peer.site);
    const target = { protocol, hostname, host, port: port || '443' };
    connect({ ...target, ...(servername && { servername }) }, (error, socket) => {
      if (error !== null || !(socket instanceof TLSSocket)) {
        resolve(null);
        return;
      }
      const shown = socket.getPeerX509Certificate();
      socket.destroy();
      resolve(shown === undefined ? null : described(shown));
    });
  });
}

/** The name in a `Host` header; none for an IP address: then TLS requests the name in `baseUrl`, as calls do. */
function nameOf(site = ''): string | undefined {
  const name = site.replace(/:\d+$/, '');
  return name.startsWith('[') || isIP(name) !== 0 ? undefined : name;
}

/** @param pem its first certificate is used @returns null if there is none that can be parsed */
export function certificateIn(pem: string): TlsCertificate | null {
  try {
    return described(new X509Certificate(pem));
  } catch {
    // The configuration has accepted it; the probe itself reports TLS problems.
    return null;
  }
}

function described(certificate: X509Certificate): TlsCertificate {
  return {
    subject: certificate.subject,
    issuer: certificate.issuer,
    validFrom: new Date(certificate.validFrom).toISOString(),
    validTo: new Date(certificate.validTo).toISOString(),
    sha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}
