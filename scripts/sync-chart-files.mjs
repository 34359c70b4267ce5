// Copies the alerts and dashboards into the chart: a chart can only take in what lies within it.
// A test holds the copies equal.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const kinds = [
  { folder: 'alerts', extension: '.yaml' },
  { folder: 'dashboards', extension: '.json' },
];

for (const { folder, extension } of kinds) {
  const from = join(root, 'grafana', folder);
  const to = join(root, 'helm/wagergate/files', folder);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith(extension))) {
    cpSync(join(from, file), join(to, file));
  }
}
