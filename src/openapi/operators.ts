import { z } from 'zod';
import { CODES } from '../domain/codes.ts';
import { OPERATIONS } from '../domain/operation.ts';
import { betFields, openSessionFields, revokeFields } from '../operators/routes.ts';
import { RESULT_TYPES } from '../protocol/messages.ts';
import {
  content,
  type Endpoint,
  errors,
  type JsonSchema,
  type Paths,
  type Response,
  type Schemas,
  SIGNED,
  success,
} from './parts.ts';

/** The endpoints that operators call. */

const CID = 'alpha-key';

/** A request's schema from the one that checks it. */
function requestSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rules } = z.toJSONSchema(schema, { io: 'input' });
  return rules;
}

const text: JsonSchema = { type: 'string' };
const textOrNull: JsonSchema = { type: ['string', 'null'] };
const integerOrNull: JsonSchema = { type: ['integer', 'null'] };
const time: JsonSchema = { type: 'string', format: 'date-time', description: 'ISO 8601 UTC' };

/** An answer of ours: every member is always there. */
function answerSchema(
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  return { type: 'object', description, required: Object.keys(properties), properties };
}

const PLACE_STATES = ['unseen', 'in_flight', 'accepted', 'declined', 'not_sent', 'unknown'];

const attempt = answerSchema('One try at the wallet', {
  number: { type: 'integer', minimum: 1 },
  startedAt: time,
  latencyMs: { type: 'integer', description: 'Milliseconds' },
  result: {
    ...text,
    description:
      'accepted, declined, timeout, connection, http_error, bad_answer, or why it was not sent',
  },
  status: { ...integerOrNull, description: "The wallet's HTTP status" },
  code: { ...integerOrNull, description: "The wallet's error code" },
  error: { ...textOrNull, description: 'What went wrong, in words; null where it was accepted' },
  answer: {
    ...answerSchema('What the wallet sent, as far as it was kept; null where nothing came', {
      contentType: textOrNull,
      body: text,
      truncated: { type: 'boolean', description: 'There was more' },
    }),
    type: ['object', 'null'],
  },
});

const operation = answerSchema('A request of the service', {
  operation: { enum: OPERATIONS.filter((word) => word !== 'profile' && word !== 'balance') },
  requestId: textOrNull,
  receivedAt: time,
  answer: {
    ...answerSchema('The answer to the service; null while the outcome is open', {
      status: { type: 'integer' },
      body: text,
    }),
    type: ['object', 'null'],
  },
  delivery: {
    ...answerSchema('Set where the gateway has accepted it as a delivery to the wallet', {
      id: text,
      state: { ...text, description: 'pending, delivered, refused, superseded, dead or resolved' },
    }),
    type: ['object', 'null'],
  },
  attempts: { type: 'array', items: attempt },
});

export const OPERATOR_SCHEMAS: Schemas = {
  OpenSessionRequest: requestSchema(openSessionFields),
  RevokeSessionsRequest: {
    ...requestSchema(revokeFields),
    description: 'Either `token` or `operatorUser`',
    oneOf: [{ required: ['token'] }, { required: ['operatorUser'] }],
  },
  FindBetRequest: requestSchema(betFields),
  Session: answerSchema('A live session', {
    userId: { ...text, description: "The aggregator's id of the player; opaque" },
    token: { ...text, description: 'To hand to the frame' },
    expiresAt: time,
  }),
  Revoked: answerSchema('What has ended', {
    revoked: { type: 'integer', minimum: 0, description: 'How many sessions' },
  }),
  Bet: answerSchema('A bet as the gateway knows it', {
    transactionId: text,
    operatorUser: textOrNull,
    userId: textOrNull,
    state: {
      enum: [...PLACE_STATES, 'settled', 'settlement_unknown', 'rolling_back', 'rolled_back'],
      description: 'Its state, in one word',
    },
    amount: { ...textOrNull, description: 'The stake as decimal text, exactly as it came' },
    currency: textOrNull,
    bonusId: { type: ['integer', 'string', 'null'], description: 'The freebet it was placed with' },
    bonusTemplateId: { type: ['integer', 'string', 'null'] },
    bonusAmount: { ...textOrNull, description: 'Of the freebet, as decimal text' },
    place: { enum: PLACE_STATES, description: 'What became of its place' },
    settlement: answerSchema('What the wallet is known to hold as its result', {
      state: { enum: ['none', 'settled', 'unsettled', 'unknown'] },
      amount: textOrNull,
      resultType: { enum: [...RESULT_TYPES, 'unsettle', null] },
    }),
    rollback: { enum: ['none', 'promised', 'confirmed'] },
    inFlight: { ...textOrNull, description: 'The operation on its way to the wallet' },
    createdAt: time,
    operations: { type: 'array', items: operation, description: 'In order' },
  }),
};

const COMMON: Readonly<Record<string, Response>> = {
  400: errors(
    'The request is not as described; names the field',
    [CODES.validation],
    'currency: must be one of USD, EUR',
  ),
  401: errors(
    'Unknown `cid` or wrong signature',
    [CODES.badSignature],
    'Unknown cid or invalid signature',
  ),
  413: errors('The body is over 16 KiB', [CODES.validation], 'The body is over 16384 bytes'),
  429: {
    ...errors('Too many requests', [CODES.timeout], 'Too many requests'),
    headers: { 'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer' } } },
  },
  503: errors('Try again', [CODES.system]),
};

function endpoint(facts: {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly request: readonly [schema: string, value: object];
  readonly responses: Readonly<Record<string, Response>>;
}): Endpoint {
  const { request, responses, ...rest } = facts;
  return {
    ...rest,
    tags: ['operators'],
    parameters: SIGNED,
    requestBody: {
      required: true,
      content: content(request[0], { request: { summary: facts.summary, value: request[1] } }),
    },
    responses: { ...responses, ...COMMON },
  };
}

export const OPERATOR_PATHS: Paths = {
  '/operator/sessions': {
    post: endpoint({
      operationId: 'openSession',
      summary: 'Open a session',
      description:
        'The same `operatorUser`, `currency` and `operatorToken` again give the same live session; ' +
        'once it has ended, a new one. Repeating does not extend it.',
      request: [
        'OpenSessionRequest',
        { cid: CID, operatorUser: 'player-17', currency: 'USD', operatorToken: 'a-token-of-yours' },
      ],
      responses: {
        201: success('The session', 'Session', {
          userId: '0b9e1f6c6c0e4b0fa3d6',
          token: 'tVb0sXb3nIKjS5k8i1Jt1J3mJ0e5mWkQ',
          expiresAt: '2026-11-22T00:00:00.000Z',
        }),
        403: errors(
          'The operator is suspended, or its sessions are prefixed',
          [CODES.blocked],
          'The operator is suspended',
        ),
        409: errors(
          'The session that this very request opened was revoked: send a new one',
          [CODES.alreadyProcessed],
          'The session that this request opened was revoked',
        ),
      },
    }),
  },
  '/operator/sessions/revoke': {
    post: endpoint({
      operationId: 'revokeSessions',
      summary: 'End sessions',
      description:
        "One session by its token, or all of a player's. Open bets still settle and roll back.",
      request: ['RevokeSessionsRequest', { cid: CID, operatorUser: 'player-17' }],
      responses: { 200: success('How many have ended', 'Revoked', { revoked: 1 }) },
    }),
  },
  '/operator/bets': {
    post: endpoint({
      operationId: 'findBet',
      summary: 'Read a bet',
      description: "Its state and everything that happened. Another operator's bet is not found.",
      request: [
        'FindBetRequest',
        { cid: CID, transactionId: 'b26153f9-ef3a-4768-b6c8-0861acdecb7a' },
      ],
      responses: {
        200: success('The bet', 'Bet', {
          transactionId: 'b26153f9-ef3a-4768-b6c8-0861acdecb7a',
          operatorUser: 'player-17',
          userId: '0b9e1f6c6c0e4b0fa3d6',
          state: 'accepted',
          amount: '12.10',
          currency: 'USD',
          bonusId: null,
          bonusTemplateId: null,
          bonusAmount: null,
          place: 'accepted',
          settlement: { state: 'none', amount: null, resultType: null },
          rollback: 'none',
          inFlight: null,
          createdAt: '2026-11-21T00:00:00.000Z',
          operations: [],
        }),
        404: errors('No such bet of yours', [CODES.notFound], 'No such bet'),
      },
    }),
  },
};
