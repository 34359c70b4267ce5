import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

export const alertsFolder = resolve(import.meta.dirname, '../../../grafana/alerts');

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly Alert[] }[];
}

/** Every alert of every file, as Prometheus reads it. */
export function alerts(): readonly Alert[] {
  return readdirSync(alertsFolder).flatMap((name) => {
    const file: RuleFile = parse(readFileSync(join(alertsFolder, name), 'utf8'));
    return file.groups.flatMap(({ rules }) => rules);
  });
}
