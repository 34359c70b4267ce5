/** Where a listener on all addresses can be asked from its own machine. */
const ON_ALL: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The host at which a listener can be asked that was given `host` to listen on. */
export function askedAt(host: string): string {
  return ON_ALL[host] ?? host;
}
