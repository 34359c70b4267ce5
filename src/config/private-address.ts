import { BlockList, isIP } from 'node:net';

const PRIVATE_RANGES = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16], // link-local, where clouds serve instance metadata
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3], // multicast, reserved, broadcast
  ['::', 127], // unspecified and loopback
  ['64:ff9b::', 96], // IPv4 inside IPv6 (NAT64), which would smuggle any of the above
  ['64:ff9b:1::', 48],
  ['2002::', 16], // IPv4 inside IPv6 (6to4)
  ['fc00::', 7], // unique local, where clouds serve instance metadata too
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const;

const privateRanges = new BlockList();
for (const [address, prefix] of PRIVATE_RANGES) {
  privateRanges.addSubnet(address, prefix, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Whether an IP address is private, loopback, link-local, metadata or otherwise not a public
 * host's. IPv4 addresses mapped into IPv6 are judged as the IPv4 address they are.
 *
 * @param address an IPv4 or IPv6 address without brackets; anything else counts as not private
 */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && privateRanges.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/**
 * Whether the host of an address names a private place by itself, without asking DNS: a literal
 * private IP in any spelling (`URL` turns `0x7f.1` into `127.0.0.1`), or a name for this machine
 * or a cloud's metadata service. What a name resolves to is judged where the connection is made.
 */
export function isPrivateHost(url: URL): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return (
    isPrivateAddress(host) ||
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    host === 'metadata.google.internal'
  );
}
