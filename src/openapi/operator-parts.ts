import { z } from 'zod';
import { CODES } from '../domain/codes.ts';
import { BODY_BYTES_MAX } from '../operators/request.ts';
import {
  bodyTooLarge,
  content,
  type Endpoint,
  errors,
  FOREIGN_ADDRESS,
  type JsonSchema,
  type Response,
  SIGNED,
} from './parts.ts';

/** Common parts of the endpoints that operators call. */

/** A request's schema, made from the one that checks the request. */
export function requestSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rules } = z.toJSONSchema(schema, { io: 'input' });
  return rules;
}

export const anyText: JsonSchema = { type: 'string' };
export const textOrNull: JsonSchema = { type: ['string', 'null'] };
export const integerOrNull: JsonSchema = { type: ['integer', 'null'] };
export const time: JsonSchema = {
  type: 'string',
  format: 'date-time',
  description: 'ISO 8601 UTC',
};

/** An answer of the gateway's own: every member is always present. */
export function answerSchema(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  return { type: 'object', description, required: Object.keys(properties), properties };
}

const COMMON: Readonly<Record<string, Response>> = {
  400: errors(
    'The request is not as described; names the field',
    [CODES.validation],
    'at: must be within 5 minutes of now',
  ),
  401: errors(
    'Unknown `cid` or wrong signature',
    [CODES.badSignature],
    'Unknown cid or invalid signature',
  ),
  403: FOREIGN_ADDRESS,
  413: bodyTooLarge(BODY_BYTES_MAX),
  429: {
    ...errors('Too many requests', [CODES.timeout], 'Too many requests'),
    headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } },
  },
  503: errors('Try again', [CODES.system]),
};

export interface OperatorEndpoint {
  /** Default `operators`. */
  readonly tag?: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly request: readonly [schema: string, value: object];
  /** Override the common ones. */
  readonly responses: Readonly<Record<string, Response>>;
}

/** A signed request of an operator, with the answers that every such request may get. */
export function endpoint({
  tag = 'operators',
  request,
  responses,
  ...texts
}: OperatorEndpoint): Endpoint {
  return {
    ...texts,
    tags: [tag],
    parameters: SIGNED,
    requestBody: {
      required: true,
      content: content(request[0], { request: { summary: texts.summary, value: request[1] } }),
    },
    responses: { ...COMMON, ...responses },
  };
}
