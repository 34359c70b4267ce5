import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPrivateHost, isPublicAddress } from '../../src/lib/public-address.ts';

describe('a public address', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '2a00:1450::1',
    '64:ff9b::808:808',
  ])('is %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    ['0.0.0.0', 'the own host'],
    ['10.1.2.3', 'private'],
    ['100.64.0.1', 'carrier-grade NAT'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['168.63.129.16', 'the services of an Azure host'],
    ['169.254.169.254', 'a cloud metadata service'],
    ['100.100.100.200', 'a cloud metadata service'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['192.0.0.8', 'protocol assignments'],
    ['192.0.2.1', 'documentation'],
    ['192.88.99.1', 'relays of 6to4'],
    ['198.18.0.1', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.9', 'documentation'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'IPv4-mapped loopback'],
    ['::ffff:8.8.8.8', 'IPv4-mapped'],
    ['64:ff9b::7f00:1', 'NAT64 of loopback'],
    ['64:ff9b::169.254.169.254', 'NAT64 of a cloud metadata service'],
    ['64:ff9b:1::1', 'NAT64 of one network'],
    ['fc00::1', 'unique local'],
    ['fd00:ec2::254', 'a cloud metadata service'],
    ['fd12:3456::1', 'unique local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%lo', 'link-local with a zone'],
    ['ff02::1', 'multicast'],
    ['2001::1', 'Teredo'],
    ['2001:db8::1', 'documentation'],
    ['2002:7f00:1::', '6to4 of loopback'],
    ['3fff:fff::1', 'documentation'],
    ['4000::1', 'not given out'],
    ['localhost', 'no address'],
    ['', 'no address'],
  ])('is not %s: %s', (address) => expect(isPublicAddress(address)).toBe(false));
});

it('behind a translator an IPv4 address is judged as without one', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      expect(isPublicAddress(`64:ff9b::${address}`)).toBe(isPublicAddress(address));
    }),
    { numRuns: 2_000 },
  );
});

describe('a host that an address names', () => {
  const isPrivate = (url: string) => isPrivateHost(new URL(url));

  it.each([
    'https://localhost',
    'https://wallet.localhost./x',
    'https://metadata.google.internal',
    'https://0x7f.1',
    'https://2130706433',
    'https://[::1]',
    'https://[::ffff:10.0.0.1]',
    'https://192.0.2.1',
    'https://[2001:db8::1]',
    'https://168.63.129.16',
  ])('is private in %s', (url) => expect(isPrivate(url)).toBe(true));

  it.each(['https://wallet.example', 'https://8.8.8.8', 'https://[2606:4700::1111]'])(
    'may be public in %s: what a name resolves to is judged at the connection',
    (url) => expect(isPrivate(url)).toBe(false),
  );

  it('is judged by the very policy that connections are', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        const host = address.includes(':') ? `[${address}]` : address;
        expect(isPrivate(`https://${host}`)).toBe(
          !isPublicAddress(new URL(`https://${host}`).hostname.replace(/^\[|\]$/g, '')),
        );
      }),
    );
  });
});
