import { errorMessage } from '../lib/faults.ts';

const UNKNOWN_AUTHORITY = 'TLS: its certificate is of an unknown authority';

/** The codes of Node and undici, and the usual ones of OpenSSL's verification, in words for people. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection broken',
  UND_ERR_SOCKET: 'connection closed',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name not resolved',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  EMFILE: 'this process may open no more files',
  ENFILE: 'this machine may open no more files',
  EADDRNOTAVAIL: 'this machine has no port left',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: its certificate is for another name',
  EPROTO: 'TLS: no common language',
  CERT_HAS_EXPIRED: 'TLS: its certificate has expired',
  CERT_NOT_YET_VALID: 'TLS: its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  HOSTNAME_MISMATCH: 'TLS: its certificate is for another name',
  CERT_REVOKED: 'TLS: its certificate is revoked',
};

/** All others, such as a weak key (UNSPECIFIED). */
const OTHER_CERTIFICATE_ERROR =
  /^(?:CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|INVALID_(?:CA|PURPOSE)|PATH_LENGTH|OUT_OF_MEM|UNSPECIFIED)/;

const OWN_SHORTAGE: ReadonlySet<string | undefined> = new Set(
  'EMFILE ENFILE EADDRNOTAVAIL ENOBUFS ENOMEM'.split(' '),
);

/** Whether a connection failed because this side lacked a resource. */
export function isOwnShortage(error: Error): boolean {
  return OWN_SHORTAGE.has(codeOf(error));
}

/** A connection error in words for people, followed by the library's own message. */
export function describeError(error: Error): string {
  const message = errorMessage(error);
  const code = codeOf(error);
  if (code === undefined) return message;
  const words = WORDS[code] ?? textOfKind(code);
  const details = message.includes(code) ? message : `${code}: ${message}`;
  return words === undefined ? details : `${words} (${details})`;
}

function textOfKind(code: string): string | undefined {
  if (code.startsWith('ERR_SSL_')) return 'TLS: handshake failed';
  return OTHER_CERTIFICATE_ERROR.test(code) ? 'TLS: its certificate is refused' : undefined;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
