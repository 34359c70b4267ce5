import type { FastifyInstance } from 'fastify';
import type { SettingsView } from '../config/settings-view.ts';
import type { OperatorMinute } from '../telemetry/last-hour.ts';
import { json, notFoundAnswer, serve } from './answers.ts';
import type { AdminApi } from './api.ts';
import { checkedPath } from './input.ts';
import { type OperatorAdmin, operatorOverview, operatorPath } from './operators.ts';

/** What was last read of the configuration. */
export interface LastReload {
  /** When it was last good, ISO 8601 UTC. */
  readonly goodAt: string;
  /** Whether what stands in the folder is in force. */
  readonly result: 'ok' | 'invalid';
}

export interface OperatorPages extends OperatorAdmin {
  /** Secrets as fingerprints. */
  readonly settingsOf: (operatorId: string) => SettingsView | undefined;
  readonly lastReload: () => Promise<LastReload>;
  readonly lastHour: { readonly of: (operatorId: string) => Promise<readonly OperatorMinute[]> };
}

/** One operator as it stands, with its last hour and its settings in force. */
export function operatorPageRoute(app: FastifyInstance, pages: OperatorPages): void {
  serve(app, 'GET', '/operators/:id', 'read', async (request) => {
    const path = checkedPath(operatorPath, request);
    if (!('fields' in path)) return path;
    const { id } = path.fields;
    const settings = pages.settingsOf(id);
    if (settings === undefined) return notFoundAnswer('No such operator');
    const [items, lastReload, lastHour] = await Promise.all([
      operatorOverview(pages),
      pages.lastReload(),
      pages.lastHour.of(id),
    ]);
    const item = items.find((one) => one.id === id);
    if (item === undefined) return notFoundAnswer('No such operator');
    const page = { ...item, settings, lastReload, lastHour };
    return json(page satisfies AdminApi['GET /admin/operators/:id']);
  });
}
