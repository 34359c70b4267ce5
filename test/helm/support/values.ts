/** Values that the chart is rendered with: by the tests' own renderer, and by `npm run chart` with Helm. */

export const SECRET = {
  databaseUrl: 'postgresql://u:p@db:5432/wagergate',
  redisUrl: 'redis://redis:6379',
  encryptionKey: Buffer.alloc(32).toString('base64'),
};
const fromFile = (name: string) => `\${file:/run/secrets/wagergate/${name}}`;
export const ALPHA = {
  id: 'alpha',
  name: 'Alpha Casino',
  wallet: {
    baseUrl: 'https://wallet.alpha.example/sportsbook',
    timeoutMs: 3000,
    secrets: [fromFile('alpha-wallet')],
  },
  api: { cid: 'alpha-key', secrets: [fromFile('alpha-api')] },
  currencies: ['USD', 'EUR'],
  delivery: { maxBackoffMs: 3_000_000 },
};
export const EVERYTHING = {
  secret: {
    ...SECRET,
    adminToken: 'the-admins-token-that-is-long-enough',
    oidcClientSecret: 'the-secret-of-the-console',
  },
  admin: {
    hosts: ['gateway.ops.example', 'gw.ops.example'],
    trustProxy: ['10.4.0.0/16', '2001:db8::/48'],
    consoleUrl: 'https://gateway.ops.example',
  },
  oidc: {
    ...{ issuer: 'https://id.example', clientId: 'console' },
    ...{ rolesClaim: 'realm_access.roles', rolesPrefix: 'wagergate-' },
  },
  gateway: { config: { http: { maxConnections: 1_000_000 } } },
  secretFiles: {
    folders: ['/run/secrets/wagergate', '/vault/secrets'],
    files: {
      service: 'the-services-secret',
      'alpha-wallet': 'alpha-wallet-secret',
      'alpha-api': 'alpha-api-secret-that-is-long-enough',
    },
  },
  operators: { files: { alpha: ALPHA } },
  worker: { autoscaling: { enabled: true } },
  tracing: { endpoint: 'http://collector:4318', share: 0.1 },
  service: { type: 'LoadBalancer', loadBalancerSourceRanges: ['192.0.2.0/24'] },
  serviceMonitor: { enabled: true },
  prometheusRule: { enabled: true },
  dashboards: { enabled: true, namespace: 'monitoring' },
};
export const OWN = {
  secret: { existing: 'my-secret' },
  secretFiles: { existing: 'my-files' },
  gateway: { existingConfigMap: 'my-gateway' },
  operators: { existingConfigMap: 'my-operators' },
};
