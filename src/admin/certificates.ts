import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Configuration } from '../config/schema.ts';
import { conflict, json, notFoundAnswer, serve } from './answers.ts';
import type { AdminApi } from './api.ts';
import { checkedPath } from './input.ts';
import { operatorPath } from './operators.ts';

/** A certificate holds every call of its run; those of a thousand cases take a few megabytes. */
const BYTES_MAX = 16 * 1024 * 1024;

/** What is shown of a certificate (docs/certificate.schema.json); the rest is left aside. */
const certificate = z.object({
  verdict: z.enum(['fit', 'fit_with_dialect', 'not_fit']),
  summary: z.string(),
  startedAt: z.string(),
  complete: z.boolean(),
  wallet: z.string(),
  counts: z.record(z.string(), z.number()),
  findings: z.array(
    z.object({ case: z.string(), title: z.string(), meaning: z.string(), advice: z.string() }),
  ),
});

export interface CertificateDesk {
  readonly configuration: () => Configuration;
  /** Where `certify --out <folder>/<operator>` has written; one folder an operator. */
  readonly certificateFolder: string;
}

/** What the last certification of an operator's wallet has found, as it was put beside its file. */
export function certificateRoutes(
  app: FastifyInstance,
  { configuration, certificateFolder }: CertificateDesk,
): void {
  serve(app, 'GET', '/operators/:id/certificate', 'read', async (request) => {
    const path = checkedPath(operatorPath, request);
    if (!('fields' in path)) return path;
    const { id } = path.fields;
    // Only a name of the configuration becomes part of a path.
    const operator = configuration().operators.get(id);
    if (operator === undefined) return notFoundAnswer('No such operator');
    const text = await textOf(join(certificateFolder, operator.id, 'certificate.json'));
    if (text === undefined) return notFoundAnswer('No certificate');
    const read = certificate.safeParse(jsonOf(text));
    if (!read.success) return conflict('The certificate there cannot be read');
    return json(read.data satisfies AdminApi['GET /admin/operators/:id/certificate']);
  });
}

/** Undefined where there is no file, or none of its size. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    return size > BYTES_MAX ? undefined : await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && isAbsent(error.code)) return undefined;
    throw error;
  }
}

function isAbsent(code: unknown): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Half written, or something else: the schema says so.
    return undefined;
  }
}
