import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPrivateAddress } from '../../src/config/private-address.ts';

describe('isPrivateAddress', () => {
  it.each([
    '0.0.0.0',
    '10.255.255.255',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    '2002:7f00:1::',
    'fd00:ec2::254',
    'fe80::1',
    'ff02::1',
  ])('says that %s is no public host', (address) => expect(isPrivateAddress(address)).toBe(true));

  it.each([
    '1.1.1.1',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '192.167.1.1',
    '223.255.255.255',
    '::ffff:1.1.1.1',
    '2606:4700::1111',
  ])('says that %s is a public host', (address) => expect(isPrivateAddress(address)).toBe(false));

  it('judges an IPv4 address the same when it is mapped into IPv6', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(isPrivateAddress(`::ffff:${address}`)).toBe(isPrivateAddress(address));
      }),
    );
  });

  it('says nothing of names', () => expect(isPrivateAddress('wallet.example')).toBe(false));
});
