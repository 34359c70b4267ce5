/** Addresses that mean "all of this machine's", and where such a listener is reached from the machine itself. */
const ON_ALL: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The host to connect to, from the same machine, for a listener that was given `host` to listen on. */
export function reachableHost(host: string): string {
  return ON_ALL[host] ?? host;
}
