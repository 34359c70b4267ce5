import type { FastifyInstance } from 'fastify';
import type { OperatorConfig } from '../../config/schema/schema.ts';
import type { SettingsView } from '../../config/settings-view.ts';
import type { LastReload } from '../../config/source.ts';
import type { LastHour } from '../../telemetry/last-hour.ts';
import type { Probed } from '../../wallets/probe.ts';
import { json, notFoundAnswer, serve } from '../answers.ts';
import type { AdminApi } from '../api.ts';
import { checkedPath } from '../input.ts';
import { type OperatorAdmin, operatorOverview, operatorPath } from './operators.ts';

export interface OperatorPages extends OperatorAdmin {
  /** The operator's settings, secrets as fingerprints. */
  readonly settingsOf: (operatorId: string) => SettingsView | undefined;
  readonly lastReload: () => LastReload;
  readonly lastHour: Pick<LastHour, 'recently' | 'of'>;
  /** Sends the wallet a harmless signed request; moves no money. */
  readonly probe: (operator: OperatorConfig) => Promise<Probed>;
}

/** One operator's present state, its last hour and its settings in force; and a probe of its wallet. */
export function operatorPageRoute(app: FastifyInstance, pages: OperatorPages): void {
  serve(app, 'GET', '/operators/:id', 'read', async (request) => {
    const path = checkedPath(operatorPath, request);
    if (!('fields' in path)) return path;
    const { id } = path.fields;
    const settings = pages.settingsOf(id);
    if (settings === undefined) {
      // Deliveries and bets lead here too where its file is gone, or was never valid.
      return notFoundAnswer('No such operator: no file of this id in operators/ is in force');
    }
    const [{ items }, lastHour] = await Promise.all([
      operatorOverview(pages),
      pages.lastHour.of(id),
    ]);
    const item = items.find((one) => one.id === id);
    if (item === undefined) return notFoundAnswer('No such operator');
    const page = { ...item, settings, lastReload: pages.lastReload(), lastHour };
    return json(page satisfies AdminApi['GET /admin/operators/:id']);
  });
  serve(app, 'POST', '/operators/:id/probe', 'operate', async (request) => {
    const path = checkedPath(operatorPath, request);
    if (!('fields' in path)) return path;
    const operator = pages.configuration().operators.get(path.fields.id);
    if (operator === undefined) return notFoundAnswer('No such operator');
    const probed = await pages.probe(operator);
    return json(probed satisfies AdminApi['POST /admin/operators/:id/probe']);
  });
}
