import { z } from 'zod';
import { CODES } from '../domain/codes.ts';
import { OPERATOR_USER } from '../domain/operator-user.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { JsonDocument } from '../protocol/json.ts';

/** The sender chooses a member's name: a long one must not fill answers and logs. */
const NAME_LENGTH_MAX = 64;

/** The request's members, checked by a schema, or the 400 that names the first wrong one. */
export function readFields<S extends z.ZodType>(
  schema: S,
  document: JsonDocument,
): { readonly fields: z.output<S> } | Answer {
  const result = schema.safeParse(document.value);
  if (result.success) return { fields: result.data };
  const [issue] = result.error.issues;
  const path = issue?.path.map(String) ?? [];
  if (issue?.code === 'unrecognized_keys') {
    const [name = ''] = issue.keys;
    const field = [...path, name.slice(0, NAME_LENGTH_MAX)].join('.');
    return failure(CODES.validation, `${field}: is not a member of this request`);
  }
  return failure(CODES.validation, `${path.join('.')}: ${issue?.message ?? 'is not valid'}`);
}

/** The operator's own id of a player. */
export const operatorUser = z
  .string('must be a string')
  .regex(OPERATOR_USER, 'must be 1 to 64 of A-Z a-z 0-9 . _ ~ -');
