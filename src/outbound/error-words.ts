/** The codes of Node and undici in words for people. */
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
};

const UNKNOWN_AUTHORITY = 'TLS: its certificate is of an unknown authority';

/** The usual ones of Node's names for OpenSSL's verification errors. */
const CERTIFICATE_WORDS: Readonly<Record<string, string>> = {
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
export function errorInWords(error: Error): string {
  // Several addresses were tried, and the error of all of them has no message of its own.
  const message =
    error instanceof AggregateError
      ? error.errors.map((one: unknown) => (one instanceof Error ? one.message : one)).join('; ')
      : error.message;
  const code = codeOf(error);
  if (code === undefined) return message;
  const words = WORDS[code] ?? CERTIFICATE_WORDS[code] ?? wordsOfKind(code);
  const details = message.includes(code) ? message : `${code}: ${message}`;
  return words === undefined ? details : `${words} (${details})`;
}

function wordsOfKind(code: string): string | undefined {
  if (code.startsWith('ERR_SSL_')) return 'TLS: handshake failed';
  return OTHER_CERTIFICATE_ERROR.test(code) ? 'TLS: its certificate is refused' : undefined;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
