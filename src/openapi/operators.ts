import { RESULT_TYPES } from '../domain/bet.ts';
import { BET_STATES } from '../domain/bet-state.ts';
import { CODES } from '../domain/codes.ts';
import { OPERATIONS } from '../domain/operation.ts';
import { openSessionFields, revokeFields } from '../operators/routes.ts';
import { betFields } from '../operators/show-bet.ts';
import {
  answerSchema,
  anyText,
  endpoint,
  integerOrNull,
  requestSchema,
  textOrNull,
  time,
} from './operator-parts.ts';
import { errors, type Paths, type Schemas, success } from './parts.ts';

/** The endpoints that operators call. */

const CID = 'alpha-key';

const PLACE_STATES = ['unseen', 'in_flight', 'accepted', 'declined', 'not_sent', 'unknown'];

const attempt = answerSchema('One try at the wallet', {
  number: { type: 'integer', minimum: 1 },
  startedAt: time,
  latencyMs: { type: 'integer', description: 'Milliseconds' },
  result: {
    ...anyText,
    description:
      'accepted, declined, timeout, connection, http_error, bad_answer, or why it was not sent',
  },
  status: { ...integerOrNull, description: "The wallet's HTTP status" },
  code: { ...integerOrNull, description: "The wallet's error code" },
  error: { ...textOrNull, description: 'What went wrong, in words; null where it was accepted' },
  answer: {
    ...answerSchema('What the wallet sent, as far as it was kept; null where nothing came', {
      contentType: textOrNull,
      body: anyText,
      truncated: {
        type: 'boolean',
        description: 'There was more, or it is left out as one of very many',
      },
    }),
    type: ['object', 'null'],
  },
});

const operation = answerSchema('A request of the service, or a rollback of the gateway itself', {
  operation: { enum: OPERATIONS.filter((word) => word !== 'profile' && word !== 'balance') },
  askedBy: {
    enum: ['service', 'gateway'],
    description:
      '`gateway`: it rolled back a place of unknown outcome, because the service had not',
  },
  requestId: textOrNull,
  receivedAt: time,
  answer: {
    ...answerSchema(
      'The answer to the service; null while the outcome is open, or where it did not ask',
      {
        status: { type: 'integer' },
        body: anyText,
      },
    ),
    type: ['object', 'null'],
  },
  delivery: {
    ...answerSchema('Set where the gateway has accepted it as a delivery to the wallet', {
      id: anyText,
      state: {
        ...anyText,
        description: 'pending, delivered, refused, superseded, dead or resolved',
      },
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
    userId: { ...anyText, description: "The aggregator's id of the player; opaque" },
    token: { ...anyText, description: 'To hand to the frame' },
    expiresAt: time,
  }),
  Revoked: answerSchema('What has ended', {
    revoked: { type: 'integer', minimum: 0, description: 'How many sessions' },
  }),
  Bet: answerSchema('A bet as the gateway knows it', {
    transactionId: anyText,
    operatorUser: textOrNull,
    userId: textOrNull,
    state: {
      enum: BET_STATES,
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
          'The operator is suspended, its sessions are prefixed, or the source address is not its own',
          [CODES.blocked],
          'The operator is suspended',
        ),
        409: errors(
          'The session that this very request opened was revoked: send a new one',
          [CODES.alreadyProcessed],
          'The session that this request opened was revoked: send a new request, with path, at and nonce',
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
