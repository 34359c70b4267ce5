import { expect, it } from 'vitest';
import { renderChart } from './support/render.ts';
import { OWN } from './support/values.ts';

// On a real API server everything else of the release was made, so that pods ran without a Service.
it.each(['my.release', '1st', 'gateway.', 'Gateway'])(
  'refuses a name that no Service may have, before anything is migrated or started (%s)',
  (fullnameOverride) => {
    expect(() => renderChart({ ...OWN, fullnameOverride })).toThrow(
      `no Service can be called ${fullnameOverride}`,
    );
  },
);
