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
  CERT_HAS_EXPIRED: 'TLS: its certificate has expired',
  CERT_NOT_YET_VALID: 'TLS: its certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'TLS: its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'TLS: its certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'TLS: its certificate is of an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'TLS: its certificate is of an unknown authority',
  ERR_TLS_CERT_ALTNAME_INVALID: 'TLS: its certificate is for another name',
  EPROTO: 'TLS: no common language',
};

const OWN_SHORTAGE: ReadonlySet<string | undefined> = new Set(
  'EMFILE ENFILE EADDRNOTAVAIL ENOBUFS ENOMEM'.split(' '),
);

/** Whether a connection failed because this side lacked a resource. */
export function isOwnShortage(error: Error): boolean {
  return OWN_SHORTAGE.has(codeOf(error));
}

/**
 * The error of a connection that failed at each of these addresses.
 * @param errors in order of preference; at least one
 */
export function errorOfAll(errors: readonly Error[]): Error {
  const [first = new Error('no address'), ...others] = errors;
  if (others.length === 0) return first;
  const code = codeOf(errors.find(isOwnShortage) ?? first);
  return Object.assign(new AggregateError(errors), { code });
}

/**
 * A connection to an IPv6 address failed on a machine that has none itself. Linux may then say that no address or port
 * is left (EADDRNOTAVAIL), which would be a shortage that passes.
 */
export function withoutIPv6(error: Error): Error {
  if (codeOf(error) !== 'EADDRNOTAVAIL') return error;
  const words = `this machine has no IPv6 address (${error.message})`;
  return Object.assign(new Error(words, { cause: error }), { code: 'ENETUNREACH' });
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
  const words = WORDS[code] ?? (code.startsWith('ERR_SSL_') ? 'TLS: handshake failed' : undefined);
  const details = message.includes(code) ? message : `${code}: ${message}`;
  return words === undefined ? details : `${words} (${details})`;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
