import { describe, expect, it } from 'vitest';
import { at, isTree, type Tree } from './support/chart.ts';
import { containerOf, named } from './support/manifests.ts';
import { renderChart } from './support/render.ts';
import { EVERYTHING, SECRET } from './support/values.ts';

describe('what the chart closes by default', () => {
  const everything = renderChart(EVERYTHING);
  const plain = renderChart({ secret: SECRET });
  const http = named(everything, 'Deployment', 'gw-wagergate-http');
  const worker = named(everything, 'Deployment', 'gw-wagergate-worker');

  it('tells every pod the names it may be asked under, whom it believes, and where secrets are (I8)', () => {
    for (const workload of [http, worker]) {
      const env = at(containerOf(workload), 'env');
      const hosts = 'gateway.ops.example,gw.ops.example';
      expect(env).toContainEqual({ name: 'ADMIN_HOSTS', value: hosts });
      const proxies = '10.4.0.0/16,2001:db8::/48';
      expect(env).toContainEqual({ name: 'ADMIN_TRUST_PROXY', value: proxies });
      const folders = '/run/secrets/wagergate:/vault/secrets';
      expect(env).toContainEqual({ name: 'SECRET_FOLDERS', value: folders });
    }
    const env = at(containerOf(named(plain, 'Deployment', 'gw-wagergate-http')), 'env');
    expect(JSON.stringify(env)).not.toMatch(/ADMIN_HOSTS|ADMIN_TRUST_PROXY/);
    // Not what somebody else mounts below /run/secrets.
    expect(env).toContainEqual({ name: 'SECRET_FOLDERS', value: '/run/secrets/wagergate' });
  });

  it("limits what callers may hold, in the gateway's own file (I7)", () => {
    const file = (manifests: readonly Tree[]) => {
      const { data } = named(manifests, 'ConfigMap', 'gw-wagergate-gateway');
      return isTree(data) ? String(data['gateway.yaml']) : '';
    };
    expect(file(plain)).toMatch(/maxConnections: 2000\n/);
    expect(file(everything)).toMatch(/maxConnections: 1000000\n/);
  });
});
