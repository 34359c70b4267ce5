import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Configuration } from '../../config/schema/schema.ts';
import { jsonIn } from '../../lib/json-in.ts';
import { conflict, json, notFoundAnswer, serve } from '../answers.ts';
import type { AdminApi } from '../api.ts';
import { checkedPath } from '../input.ts';
import { operatorPath } from './operators.ts';

/** A certificate contains every call of its run; a thousand cases take a few megabytes. */
const BYTES_MAX = 16 * 1024 * 1024;

/** The part of a certificate (docs/certificate.schema.json) that is shown; the rest is ignored. */
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

export interface CertificateDependencies {
  readonly configuration: () => Configuration;
  /** Where `certify --out <folder>/<operator>` has written; one folder per operator. */
  readonly certificateFolder: string;
}

/** The result of the last certification of an operator's wallet, read from its certificate folder. */
export function certificateRoutes(
  app: FastifyInstance,
  { configuration, certificateFolder }: CertificateDependencies,
): void {
  serve(app, 'GET', '/operators/:id/certificate', 'read', async (request) => {
    const path = checkedPath(operatorPath, request);
    if (!('fields' in path)) return path;
    const { id } = path.fields;
    // The path is built from the configured id, never from the request.
    const operator = configuration().operators.get(id);
    if (operator === undefined) return notFoundAnswer('No such operator');
    const found = await foundAt(join(certificateFolder, operator.id, 'certificate.json'));
    if (found === undefined) return notFoundAnswer('No certificate');
    if ('fault' in found) return conflict(`The certificate there ${found.fault}`);
    const read = certificate.safeParse(jsonIn(found.text));
    if (!read.success) return conflict('The certificate there cannot be read');
    return json(read.data satisfies AdminApi['GET /admin/operators/:id/certificate']);
  });
}

/** Undefined if there is no file. */
async function foundAt(
  file: string,
): Promise<{ readonly text: string } | { readonly fault: string } | undefined> {
  try {
    const { size } = await stat(file);
    if (size > BYTES_MAX) return { fault: 'is larger than 16 MiB' };
    return { text: await readFile(file, 'utf8') };
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    if (isAbsent(error.code)) return undefined;
    // A person has to mend its rights, or the disk.
    return { fault: `cannot be read (${error.code})` };
  }
}

function isAbsent(code: unknown): boolean {
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR';
}
