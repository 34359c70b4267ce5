import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import proxyAddress from '@fastify/proxy-addr';

/** Whether an address is in one of the CIDRs or addresses. Other text, as from proxies, is in none. */
export function addressMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix] = cidr.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  // Node itself treats `::ffff:192.0.2.1` as an IPv4 address.
  return (said) => {
    const address = withoutPort(said);
    return isIP(address) !== 0 && list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  };
}

/** The last address of `X-Forwarded-For` that is no trusted proxy's. Absent if the connection was reset. */
export function senderAddress(
  request: IncomingMessage,
  isProxy: (address: string | undefined) => boolean,
): string | undefined {
  return proxyAddress.all(request, isProxy).at(-1);
}

/** Some proxies write `192.0.2.1:51234` and `[2001:db8::1]:51234` into `X-Forwarded-For`. */
export function withoutPort(address: string): string {
  const [, ipv6, ipv4] = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/.exec(address) ?? [];
  return ipv6 ?? ipv4 ?? address;
}
