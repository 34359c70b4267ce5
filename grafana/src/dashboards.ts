import { join } from 'node:path';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import { bonus } from './bonus.ts';
import { deliveries } from './deliveries.ts';
import { moneySafety } from './money-safety.ts';
import { operator } from './operator.ts';
import { overview } from './overview.ts';
import { runtime } from './runtime.ts';

/** The folder of the generated files. */
export const FOLDER = join(import.meta.dirname, '..', 'dashboards');

const dashboards: readonly Dashboard[] = [
  overview,
  operator,
  deliveries,
  moneySafety,
  bonus,
  runtime,
];

/** Each dashboard's file, by its name in the folder. */
export function files(): ReadonlyMap<string, string> {
  return new Map(dashboards.map((made) => [nameOf(made), `${JSON.stringify(made, null, 2)}\n`]));
}

function nameOf({ uid }: Dashboard): string {
  if (uid === undefined) throw new Error('a dashboard without a uid');
  return `${uid.replace(/^wagergate-/, '')}.json`;
}
