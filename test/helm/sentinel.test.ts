import { expect, it } from 'vitest';
import { at } from './support/chart.ts';
import { named } from './support/manifests.ts';
import { renderChart } from './support/render.ts';
import { EVERYTHING } from './support/values.ts';

it('lets the gateway reach Sentinels, where their port is named', () => {
  const portsWith = (redis: Readonly<Record<string, number>>) => {
    const manifests = renderChart({ ...EVERYTHING, networkPolicy: { redis } });
    const rules = at(named(manifests, 'NetworkPolicy', 'gw-wagergate'), 'spec.egress');
    return Array.isArray(rules) ? rules.map((rule) => at(rule, 'ports')) : [];
  };
  const [server, sentinel] = [6379, 26_379].map((port) => ({ port, protocol: 'TCP' }));
  expect(portsWith({ sentinelPort: 26_379 })).toContainEqual([server, sentinel]);
  expect(portsWith({})).toContainEqual([server]);
});
