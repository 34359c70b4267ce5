import { BlockList, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress } from '../../src/lib/public-address.ts';
import { at, type Tree } from './support/chart.ts';
import { containerOf, named } from './support/manifests.ts';
import { renderChart } from './support/render.ts';
import { SECRET } from './support/values.ts';

const BOTH = { secret: SECRET, listen: '::' };

/** What pods may reach on the wallets' ports. */
function walletBlocks(manifests: readonly Tree[]): readonly unknown[] {
  const rules = at(named(manifests, 'NetworkPolicy', 'gw-wagergate'), 'spec.egress');
  const wallets = (Array.isArray(rules) ? rules : []).find((rule) =>
    JSON.stringify(rule).includes('0.0.0.0/0'),
  );
  const to = at(wallets, 'to');
  return Array.isArray(to) ? to.map((peer) => at(peer, 'ipBlock')) : [];
}

/** Whether one of the blocks has the address, and does not except it. */
function openedBy(blocks: readonly unknown[]): (address: string) => boolean {
  const lists = blocks.map((block) => {
    const list = (ranges: unknown) => {
      const made = new BlockList();
      for (const range of Array.isArray(ranges) ? ranges : []) {
        const [address = '', prefix] = String(range).split('/');
        made.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
      }
      return made;
    };
    return { within: list([at(block, 'cidr')]), except: list(Object(block).except) };
  });
  return (address) =>
    lists.some(
      ({ within, except }) => within.check(address, 'ipv6') && !except.check(address, 'ipv6'),
    );
}

describe('pods with IPv6 addresses', () => {
  it.each(['http', 'worker'])('are asked there, probes included (%s)', (component) => {
    const workload = named(renderChart(BOTH), 'Deployment', `gw-wagergate-${component}`);
    const env = at(containerOf(workload), 'env');
    expect(env).toContainEqual({ name: 'HOST', value: '::' });
    expect(env).toContainEqual({ name: 'ADMIN_HOST', value: '::' });
  });

  it('may reach exactly the addresses that the gateway takes for wallets', () => {
    const isOpen = openedBy(walletBlocks(renderChart(BOTH)));
    const ofPublic = fc
      .tuple(
        fc.constantFrom('2001', '2002', '2600', '3fff'),
        fc.array(fc.nat(0xffff), { minLength: 7, maxLength: 7 }),
      )
      .map(([first, rest]) => [first, ...rest.map((one) => one.toString(16))].join(':'));
    const translated = fc.ipV4().map((address) => `64:ff9b::${address}`);
    fc.assert(
      fc.property(fc.oneof(ofPublic, translated), (address) => {
        expect(isOpen(address), address).toBe(isPublicAddress(address));
      }),
      { numRuns: 4_000 },
    );
    for (const address of ['2001:db8::1', '64:ff9b::169.254.169.254', 'fd00:ec2::254', '::1']) {
      expect(isOpen(address), address).toBe(false);
    }
  });

  it('are what opens IPv6 at all', () => {
    expect(walletBlocks(renderChart({ secret: SECRET }))).toHaveLength(1);
  });
});
