import type { FastifyInstance } from 'fastify';
import packageFile from '../../package.json' with { type: 'json' };
import { BONUS_SCHEMAS } from './bonus-schemas.ts';
import { BONUS_PATHS } from './bonuses.ts';
import { CALLBACK_SCHEMAS } from './callback-schemas.ts';
import { CALLBACK_PATHS } from './callbacks.ts';
import { OPERATOR_PATHS, OPERATOR_SCHEMAS } from './operators.ts';
import { ERROR_SCHEMA, type OpenApiDocument, SIGNATURE_PARAMETER } from './parts.ts';
import { STATEMENT_PATHS, STATEMENT_SCHEMAS } from './statements.ts';

/** The public API, for machines; `GET /docs` of the internal listener shows it to people. */
export const openApiDocument: OpenApiDocument = {
  openapi: '3.1.0',
  info: {
    title: 'Wagergate',
    version: packageFile.version,
    description:
      "The gateway between one betting service and many operators' wallets. Every request is signed; " +
      'money is decimal and keeps its exact text; times are ISO 8601 UTC.',
    license: { name: packageFile.license, identifier: packageFile.license },
  },
  servers: [{ url: '/', description: 'The gateway that serves this document' }],
  tags: [
    { name: 'callbacks', description: 'What the betting service calls' },
    { name: 'operators', description: 'What operators call, each seeing only its own' },
    {
      name: 'bonuses',
      description: "The service's bonus API, for each operator as if it were alone",
    },
  ],
  paths: { ...CALLBACK_PATHS, ...OPERATOR_PATHS, ...STATEMENT_PATHS, ...BONUS_PATHS },
  components: {
    parameters: { Signature: SIGNATURE_PARAMETER },
    schemas: {
      Error: ERROR_SCHEMA,
      ...CALLBACK_SCHEMAS,
      ...OPERATOR_SCHEMAS,
      ...STATEMENT_SCHEMAS,
      ...BONUS_SCHEMAS,
    },
  },
};

/** Serves the document at `GET /openapi.json`. */
export function openApiRoute(app: FastifyInstance): void {
  const text = JSON.stringify(openApiDocument);
  app.get('/openapi.json', (_request, reply) => {
    reply.header('content-type', 'application/json; charset=utf-8').send(text);
  });
}
