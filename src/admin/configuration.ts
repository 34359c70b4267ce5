import type { FastifyInstance } from 'fastify';
import type { Configuration } from '../config/schema/schema.ts';
import { changesBetween, warningsOf } from '../config/settings-diff.ts';
import { viewOf } from '../config/settings-view.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { json, serve } from './answers.ts';
import type { AdminApi } from './api.ts';

export interface ConfigurationDependencies {
  readonly configuration: () => Configuration;
  readonly source: Pick<ConfigurationSource, 'preview'>;
}

/** The most problems that one answer lists; the next ones appear once these are corrected. */
const PROBLEMS_SHOWN_MAX = 100;

/** The configuration in force, and what a reload would change. Secrets are shown as fingerprints. */
export function configurationRoutes(
  app: FastifyInstance,
  { configuration, source }: ConfigurationDependencies,
  adminToken: string,
): void {
  serve(app, 'GET', '/config', 'read', async () => json(await viewOf(configuration(), adminToken)));

  serve(app, 'GET', '/config/preview', 'read', async () => {
    const { result, problems, candidate } = await source.preview();
    const { gateway, operators } = await changesBetween(configuration(), candidate, adminToken);
    const preview: AdminApi['GET /admin/config/preview'] = {
      result,
      problems: problems.slice(0, PROBLEMS_SHOWN_MAX),
      problemCount: problems.length,
      gateway,
      operators: operators.map((change) => ({
        id: change.id,
        kind: change.kind,
        settings: change.kind === 'changed' ? change.settings : [],
        warnings: warningsOf(change),
      })),
    };
    return json(preview);
  });
}
