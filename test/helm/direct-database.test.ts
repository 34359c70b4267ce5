import { expect, it } from 'vitest';
import { at } from './support/chart.ts';
import { named, secretsIn } from './support/manifests.ts';
import { renderChart } from './support/render.ts';
import { EVERYTHING } from './support/values.ts';

it('gives the database’s address without a pooler to the migration and to the gateway', () => {
  const direct = 'postgresql://u:p@db:5433/wagergate';
  const secretOf = { ...EVERYTHING.secret, databaseDirectUrl: direct };
  for (const name of ['gw-wagergate-migrate', 'gw-wagergate']) {
    const made = named(renderChart({ ...EVERYTHING, secret: secretOf }), 'Secret', name);
    expect(secretsIn(made)).toMatchObject({ DATABASE_DIRECT_URL: direct });
  }
});

it('lets the gateway reach its database without a pooler, where that has a port of its own', () => {
  const networkPolicy = { postgresql: { port: 6432, directPort: 5432 } };
  const policy = named(
    renderChart({ ...EVERYTHING, networkPolicy }),
    'NetworkPolicy',
    'gw-wagergate',
  );
  const rules = at(policy, 'spec.egress');
  expect(Array.isArray(rules) ? rules.map((rule) => at(rule, 'ports')) : []).toContainEqual([
    { port: 6432, protocol: 'TCP' },
    { port: 5432, protocol: 'TCP' },
  ]);
});
