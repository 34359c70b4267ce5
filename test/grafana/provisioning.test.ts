import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

const PROVISIONING = resolve(import.meta.dirname, '../../grafana/provisioning');

function read(file: string): unknown {
  return parse(readFileSync(resolve(PROVISIONING, file), 'utf8'));
}

it('Grafana starts with Prometheus as its data source', () => {
  expect(read('datasources/prometheus.yaml')).toMatchObject({
    apiVersion: 1,
    datasources: [{ type: 'prometheus', access: 'proxy', isDefault: true }],
  });
});

it('Grafana reads the dashboards from their files, which nobody edits in place', () => {
  expect(read('dashboards/wagergate.yaml')).toMatchObject({
    apiVersion: 1,
    providers: [
      { type: 'file', allowUiUpdates: false, options: { path: expect.stringMatching(/^\//) } },
    ],
  });
});
