import { CODES, type KnownCode } from '../domain/codes.ts';

/** The part of OpenAPI 3.1 that the document uses. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly identifier: string };
  };
  readonly servers: readonly { readonly url: string; readonly description: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: {
    readonly parameters: { readonly Signature: typeof SIGNATURE_PARAMETER };
    readonly schemas: Schemas;
  };
}

export type Paths = Readonly<Record<string, Readonly<Partial<Record<Method, Endpoint>>>>>;

export type Method = 'get' | 'post' | 'put';

export interface Endpoint {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly JsonSchema[];
  readonly requestBody: { readonly required: true; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content: Content;
}

export interface Content {
  readonly 'application/json': {
    readonly schema: JsonSchema;
    readonly examples?: Readonly<Record<string, MessageExample>>;
  };
  /** For a statement: the alternative that `Accept` may ask for. */
  readonly 'text/csv'?: { readonly schema: JsonSchema };
}

export interface MessageExample {
  readonly summary: string;
  readonly value: unknown;
}

/** JSON Schema 2020-12, which OpenAPI 3.1 uses. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export type Schemas = Readonly<Record<string, JsonSchema>>;

export function ref(schema: string): JsonSchema {
  return { $ref: `#/components/schemas/${schema}` };
}

/** `x-sign-jws`, which every signed request carries. */
export const SIGNED: readonly JsonSchema[] = [{ $ref: '#/components/parameters/Signature' }];

export const SIGNATURE_PARAMETER = {
  name: 'x-sign-jws',
  in: 'header',
  required: true,
  description:
    'Detached JWS (HS256) over the exact bytes of the body: `<header>..<signature>`, both base64url. ' +
    'It is verified before anything is read from the body.',
  schema: { type: 'string', pattern: '^[A-Za-z0-9_-]+\\.\\.[A-Za-z0-9_-]+$' },
} as const;

export const ERROR_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'Only `code` counts; `message` is for people and may change.',
  required: ['code', 'message'],
  properties: {
    code: { type: 'integer', description: 'Why' },
    message: { type: 'string', description: 'For people; names the field where one is wrong' },
  },
};

/** What a code means, in a few words, for the document's examples. */
const MEANINGS: Readonly<Record<KnownCode, string>> = {
  [CODES.badSignature]: 'Invalid signature',
  [CODES.notFound]: 'No such thing',
  [CODES.invalidToken]: 'Invalid token',
  [CODES.expiredToken]: 'Token out of date',
  [CODES.validation]: 'amount: must be a number of 0 or more',
  [CODES.notEnoughMoney]: 'Not enough money',
  [CODES.alreadyProcessed]: 'The bet has already been processed',
  [CODES.blocked]: 'Blocked',
  [CODES.timeout]: 'Timeout, or too many requests',
  [CODES.stakeLimit]: 'Stake limit',
  [CODES.lossLimit]: 'Loss limit',
  [CODES.betCountLimit]: 'Bet count limit',
  [CODES.selfExcluded]: 'Self-excluded',
  [CODES.notVerified]: 'Not verified',
  [CODES.underAge]: 'Under age',
  [CODES.recalculationBlocked]: 'Recalculation transaction is blocked',
  [CODES.recalculationUnaffordable]: 'Recalculation blocked, insufficient balance',
  [CODES.system]: 'System error',
};

/** An error answer with its codes as examples. @param message instead of a code's general meaning */
export function errors(
  description: string,
  codes: readonly KnownCode[],
  message?: string,
): Response {
  const examples = codes.map((code): [string, MessageExample] => {
    const says = message ?? MEANINGS[code];
    return [`code${code}`, { summary: says, value: { code, message: says } }];
  });
  return {
    description,
    content: {
      'application/json': { schema: ref('Error'), examples: Object.fromEntries(examples) },
    },
  };
}

/** The refusal of an operator's request from another address (`api.allowedIps`). */
export const FOREIGN_ADDRESS = errors(
  "The source address is not among the operator's own",
  [CODES.blocked],
  'Source address not allowed',
);

/** The refusal of a body with more bytes than its endpoint accepts. */
export function bodyTooLarge(bytesMax: number): Response {
  return errors(
    `The body is over ${bytesMax / 1024} KiB`,
    [CODES.validation],
    `The body is over ${bytesMax} bytes`,
  );
}

export function success(description: string, schema: string, value: unknown): Response {
  return { description, content: content(schema, { success: { summary: description, value } }) };
}

export function content(
  schema: string,
  examples: Readonly<Record<string, MessageExample>>,
): Content {
  return { 'application/json': { schema: ref(schema), examples } };
}
