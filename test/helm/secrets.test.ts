import { expect, it } from 'vitest';
import { named, secretsIn } from './support/manifests.ts';
import { renderChart } from './support/render.ts';
import { EVERYTHING } from './support/values.ts';

// From `stringData`, Kubernetes copies into `data`. Whoever applies a manifest compares it with the one before, so what is
// gone from `stringData` is not taken out of `data`: pods kept an admin token that was withdrawn, on a real API server.
it('takes a withdrawn secret out of the cluster: what Secrets hold is in `data`, where a missing key is seen', () => {
  const made = renderChart(EVERYTHING).filter(({ kind }) => kind === 'Secret');
  expect(made).toHaveLength(3);
  for (const secret of made) {
    expect(secret).not.toHaveProperty('stringData');
    expect(secret).toHaveProperty('data');
  }
});

it('holds in its Secrets what the values say, character by character', () => {
  const awkward = 'ü: "q" \'s\' # {{ x }} \\ \n%s';
  const values = {
    ...EVERYTHING,
    secret: { ...EVERYTHING.secret, databaseDirectUrl: awkward },
    secretFiles: { files: { service: awkward, empty: '' } },
  };
  const made = renderChart(values);
  expect(secretsIn(named(made, 'Secret', 'gw-wagergate-files'))).toEqual({
    service: awkward,
    empty: '',
  });
  expect(secretsIn(named(made, 'Secret', 'gw-wagergate'))).toEqual({
    DATABASE_URL: EVERYTHING.secret.databaseUrl,
    DATABASE_DIRECT_URL: awkward,
    REDIS_URL: EVERYTHING.secret.redisUrl,
    ENCRYPTION_KEY: EVERYTHING.secret.encryptionKey,
    ADMIN_TOKEN: EVERYTHING.secret.adminToken,
    OIDC_CLIENT_SECRET: EVERYTHING.secret.oidcClientSecret,
  });
});
