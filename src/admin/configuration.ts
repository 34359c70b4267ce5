import type { FastifyInstance } from 'fastify';
import type { Configuration } from '../config/schema.ts';
import { viewOf } from '../config/settings-view.ts';
import { json, serve } from './answers.ts';

/**
 * What is in force, every default filled in; secrets as fingerprints that only a holder of the admin
 * token can compare with secrets of its own (`wagergate config diff`).
 */
export function configurationRoutes(
  app: FastifyInstance,
  deliveryAdmin: { readonly configuration: () => Configuration },
  adminToken: string,
): void {
  serve(app, 'GET', '/config', 'read', () =>
    json(viewOf(deliveryAdmin.configuration(), adminToken)),
  );
}
