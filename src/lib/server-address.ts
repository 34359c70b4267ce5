/** Shown if everything after the scheme might contain a password. */
const NOT_SHOWN = '…, not shown: in a password write / as %2F, ? as %3F, # as %23';

/**
 * A server's address for messages: without user, password and parameters.
 *
 * A `/`, `?` or `#` in a password ends the host for the parser, and the rest of the password ends up where the
 * database's name is. An `@` after the host reveals that; then only the scheme is shown.
 */
export function shownAddress(url: string): string {
  const { protocol, host, pathname, search, hash } = new URL(url);
  const behind = `${pathname}${search}${hash}`;
  return behind.includes('@') ? `${protocol}//${NOT_SHOWN}` : `${protocol}//${host}${pathname}`;
}
