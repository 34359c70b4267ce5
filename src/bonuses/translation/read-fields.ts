import type { z } from 'zod';
import { readFields } from '../../operators/fields.ts';
import type { JsonDocument } from '../../protocol/json.ts';
import type { BonusResult } from '../outcome.ts';

/** The request's members by a schema, or the 400 that names the first wrong one. */
export function fieldsOf<S extends z.ZodType>(
  schema: S,
  document: JsonDocument,
): { readonly fields: z.output<S> } | BonusResult {
  const read = readFields(schema, document);
  return 'fields' in read ? read : { answer: read, outcome: 'invalid' };
}
