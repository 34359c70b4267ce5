/** Shown if everything after the scheme might contain a password. */
const NOT_SHOWN = '…, not shown: in a password write / as %2F, ? as %3F, # as %23';

/**
 * A server's address for messages, without user, password and parameters. If a `/`, `?` or `#` in a password
 * shows as an `@` after the host, only the scheme is shown.
 */
export function shownAddress(url: string): string {
  const { protocol, host, pathname, search, hash } = new URL(url);
  const behind = `${pathname}${search}${hash}`;
  return behind.includes('@') ? `${protocol}//${NOT_SHOWN}` : `${protocol}//${host}${pathname}`;
}

/** What to write instead of text that is no URL, such as a socket's folder without a host. */
export function noUrl(text: string, example: string): string {
  return /^postgres(ql)?:\/\/[^/?#]*@\//.test(text)
    ? 'names no host: for a Unix socket write localhost there, e.g. postgresql://user:password@localhost/wagergate?host=/folder'
    : `is not a URL; expected e.g. ${example}`;
}

/** How other clients of PostgreSQL have a URL name the schema: Prisma, JDBC, libpq's relatives. Ours ignores them. */
const NAMES_OF_SCHEMA = ['schema', 'currentSchema', 'search_path'];

/**
 * Looks for a schema in a PostgreSQL URL that would be ignored: two installations would write one journal.
 * @returns what to write instead, to follow the variable's name
 */
export function ignoredSchema(url: string): string | undefined {
  for (const [name, value] of new URL(url).searchParams) {
    if (!NAMES_OF_SCHEMA.includes(name) || value === '' || value === 'public') continue;
    return (
      `names a schema by ${name}=…, which would be ignored: write options=-c%20search_path%3D…, or take it out if the ` +
      'journal is where search_path leads'
    );
  }
  return undefined;
}
