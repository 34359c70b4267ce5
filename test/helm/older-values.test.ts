import { expect, it } from 'vitest';
import { at } from './support/chart.ts';
import { containerOf, named } from './support/manifests.ts';
import { renderChart } from './support/render.ts';
import { OWN } from './support/values.ts';

it.each(['http', 'worker'])(
  'is reached by its probes with the values of a chart that knew no `listen`, as by `helm upgrade --reuse-values` (%s)',
  (component) => {
    const workload = named(
      renderChart({ ...OWN, listen: null }),
      'Deployment',
      `gw-wagergate-${component}`,
    );
    const env = at(containerOf(workload), 'env');
    // Without a value the gateway's internal listener would be on 127.0.0.1.
    expect(env).toContainEqual({ name: 'ADMIN_HOST', value: '0.0.0.0' });
    expect(env).toContainEqual({ name: 'HOST', value: '0.0.0.0' });
  },
);
