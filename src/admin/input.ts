import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { instantOf, isDay } from '../domain/calendar.ts';
import { REASON_CHARS_MAX } from '../domain/caller.ts';
import { CODES } from '../domain/codes.ts';
import { storableText } from '../lib/storable-text.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import { JsonError, parseJsonObject } from '../protocol/json.ts';

export type Input<S extends z.ZodType> = { readonly fields: z.output<S> } | Answer;

/** The JSON body, checked by a schema whatever its content type; or a 400 that names the field. */
export function checkedBody<S extends z.ZodType>(schema: S, request: FastifyRequest): Input<S> {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  try {
    return checked(schema, parseJsonObject(body).value);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return invalidField(error.field, error.message);
  }
}

/** Like `checkedBody`, but a missing body counts as `{}`. */
export function checkedOptionalBody<S extends z.ZodType>(
  schema: S,
  request: FastifyRequest,
): Input<S> {
  const isEmpty = !Buffer.isBuffer(request.body) || request.body.length === 0;
  return isEmpty ? checked(schema, {}) : checkedBody(schema, request);
}

/** `nextCursor` of a list that is paged by id. */
export const cursorField = z
  .string('must be given once')
  .regex(/^\d{1,18}$/, 'must be the nextCursor of the previous page')
  .optional();

/** The reason for a change, for the audit. */
export const reasonField = storableText(REASON_CHARS_MAX).optional();

export const reasonBody = z.strictObject({ reason: reasonField });

/** For routes that used to accept and ignore any body: other members are allowed. */
export const looseReasonBody = z.object({ reason: reasonField });

/** The query parameters, checked by a schema. */
export function checkedQuery<S extends z.ZodType>(schema: S, request: FastifyRequest): Input<S> {
  return checked(schema, request.query);
}

/** The path parameters, checked by a schema. */
export function checkedPath<S extends z.ZodType>(schema: S, request: FastifyRequest): Input<S> {
  return checked(schema, request.params);
}

/** Like `storableText`, but not only white space: for the record. */
export function auditedText(lengthMax: number) {
  return storableText(lengthMax).refine((text) => text.trim() !== '', 'must not be empty');
}

/** A day in a path or query. */
export const dayField = z
  .string('must be given once')
  .refine(isDay, 'must be a day such as 2026-11-20');

/** A time in a query: ISO 8601 with a zone, or a day in UTC. */
export const timeField = z.string('must be given once').transform((text, context) => {
  const time = instantOf(text);
  if (time !== undefined) return time;
  const message = 'must be a time such as 2026-11-22T03:15:00Z, or a day';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

export function wordAmong<const W extends readonly string[]>(words: W) {
  return z.enum(words, `must be one of ${words.join(', ')}`);
}

function checked<S extends z.ZodType>(schema: S, value: unknown): Input<S> {
  const result = schema.safeParse(value);
  if (result.success) return { fields: result.data };
  const [issue] = result.error.issues;
  // A misspelt field is an error, not ignored: the caller would think it took effect.
  if (issue?.code === 'unrecognized_keys') return invalidField(issue.keys[0], 'is not known here');
  return invalidField(issue?.path.join('.'), issue?.message ?? 'is not valid');
}

/** The 400 that names the field. */
export function invalidField(field: string | undefined, why: string): Answer {
  return failure(CODES.validation, field === undefined ? why : `${field}: ${why}`);
}
