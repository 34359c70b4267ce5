import { BlockList, isIP } from 'node:net';

/** IANA's special-purpose IPv4 blocks: no operator's wallet on the internet is in them. */
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // "this network"; 0.0.0.0 reaches the own host
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // carrier-grade NAT, also used inside clouds
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // public by its number; inside Azure the host's own services
  ['169.254.0.0', 16], // link-local, with the clouds' metadata services
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Within global unicast: protocol assignments and Teredo, documentation, 6to4 (embeds an IPv4). */
const SPECIAL_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** Before an IPv4 address in the network's translator (RFC 6052), where machines have IPv6 alone. */
const NAT64 = '64:ff9b::';

const special = new BlockList();
for (const [network, prefix] of SPECIAL_IPV4) {
  special.addSubnet(network, prefix, 'ipv4');
  special.addSubnet(`${NAT64}${network}`, 96 + prefix, 'ipv6');
}
for (const [network, prefix] of SPECIAL_IPV6) special.addSubnet(network, prefix, 'ipv6');

/** Everything else of IPv6 is loopback, unique-local, link-local, multicast, or wraps an IPv4. */
const reachable = new BlockList();
reachable.addSubnet('2000::', 3, 'ipv6');
reachable.addSubnet(NAT64, 96, 'ipv6');

/** Whether an address belongs to the public internet; false for text that is not an address. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return reachable.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}

/**
 * Whether a host is recognisably not on the public internet, without DNS: a private IP in any spelling, or a
 * name for this machine or a cloud's metadata. What a name resolves to is checked when connecting.
 */
export function isPrivateHost(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return host === 'localhost' || host.endsWith('.localhost') || host === 'metadata.google.internal';
}
