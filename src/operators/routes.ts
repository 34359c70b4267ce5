import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CODES } from '../domain/codes.ts';
import { storableText } from '../lib/storable-text.ts';
import { type Answer, failure, isoTime } from '../protocol/answers.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { BetTimelines } from '../store/bets/timeline.ts';
import type { Statements } from '../store/books/statements.ts';
import type { Players } from '../store/sessions/players.ts';
import type { RepeatableRequest } from '../store/sessions/session-rows.ts';
import { operatorUser, readFields } from './fields.ts';
import { LargeAnswers } from './large-answers.ts';
import type { RefusalLog } from './refusal-log.ts';
import { BODY_BYTES_MAX, type OperatorGate, type OperatorRequest, sendAnswer } from './request.ts';
import { sendBet } from './show-bet.ts';
import { signedMembers } from './signed-members.ts';
import { sendStatement } from './statements.ts';

export interface OperatorApi {
  readonly gate: OperatorGate;
  readonly refusals: Pick<RefusalLog, 'onSend'>;
  readonly sessions: Sessions;
  readonly players: Players;
  readonly timelines: BetTimelines;
  readonly statements: Pick<Statements, 'find' | 'pages'>;
}

export const openSessionFields = z.strictObject({
  ...signedMembers,
  operatorUser: operatorUser.describe("The operator's id of the player"),
  currency: z.string('must be a string').describe("One of the operator's currencies"),
  operatorToken: storableText(512).describe('What the wallet knows the session by'),
  ttlSeconds: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(2_592_000, 'must be at most 2592000')
    .optional()
    .describe("Seconds until the session ends; default: the operator's setting"),
});

export const revokeFields = z.strictObject({
  ...signedMembers,
  token: storableText(256)
    .optional()
    .describe('The session to end, by the token that the gateway gave for it'),
  operatorUser: operatorUser.optional().describe('The player all of whose sessions end'),
});

/** The routes for operators (docs/reference.md, Operator API). */
export function operatorRoutes(app: FastifyInstance, api: OperatorApi): void {
  const options = { bodyLimit: BODY_BYTES_MAX, onSend: api.refusals.onSend };
  const serve = (
    url: string,
    story: (api: OperatorApi, request: OperatorRequest) => Promise<Answer>,
  ) =>
    app.post(url, options, async (request, reply) => {
      const admitted = await api.gate.admit(request);
      sendAnswer(reply, 'operator' in admitted ? await story(api, admitted) : admitted);
      return reply;
    });
  serve('/operator/sessions', openSession);
  serve('/operator/sessions/revoke', revokeSessions);
  const large = { ...api, largeAnswers: new LargeAnswers() };
  app.post('/operator/bets', options, (request, reply) => sendBet(large, request, reply));
  app.post('/operator/statements', options, (request, reply) =>
    sendStatement(large, request, reply),
  );
}

async function openSession(api: OperatorApi, request: OperatorRequest): Promise<Answer> {
  const { operator } = request;
  if (operator.status === 'suspended') {
    return failure(CODES.blocked, 'The operator is suspended', 403);
  }
  if (operator.sessions.mode !== 'issued') {
    return failure(CODES.blocked, 'This operator has prefixed sessions: none are issued', 403);
  }
  const read = readFields(openSessionFields, request.document);
  if (!('fields' in read)) return read;
  const { currency, operatorToken, ttlSeconds } = read.fields;
  if (!operator.currencies.includes(currency)) {
    return failure(CODES.validation, `currency: must be one of ${operator.currencies.join(', ')}`);
  }
  const owner = await api.players.ensure(operator.id, read.fields.operatorUser);
  const asked = {
    owner,
    currency,
    operatorToken,
    ttlSeconds: ttlSeconds ?? operator.sessions.ttlSeconds,
  };
  const opened = await api.sessions.open(asked, repeatable(read.fields));
  if (opened === undefined) {
    const advice = 'send a new request, with path, at and nonce';
    const why = `The session that this request opened was revoked: ${advice}`;
    return failure(CODES.alreadyProcessed, why, 409);
  }
  const { session, token } = opened;
  const body = { userId: owner.userId, token, expiresAt: isoTime(session.expiresAtMs) };
  return { status: 201, body: JSON.stringify(body) };
}

/** Recognises a repeated request, however it is formatted. Undefined with a nonce, never accepted twice. */
function repeatable(fields: z.output<typeof openSessionFields>): RepeatableRequest | undefined {
  if (fields.nonce !== undefined) return undefined;
  const { operatorUser, currency, operatorToken, ttlSeconds, path, at } = fields;
  const said = [operatorUser, currency, operatorToken, ttlSeconds, path, at];
  const hash = createHash('sha256').update(JSON.stringify(said)).digest();
  return { hash, saysWhen: at !== undefined };
}

async function revokeSessions(api: OperatorApi, request: OperatorRequest): Promise<Answer> {
  const read = readFields(revokeFields, request.document);
  if (!('fields' in read)) return read;
  const { token, operatorUser: user } = read.fields;
  if ((token === undefined) === (user === undefined)) {
    return failure(CODES.validation, 'token: give either token or operatorUser');
  }
  const which = token === undefined ? { operatorUser: user ?? '' } : { token };
  const revoked = await api.sessions.revoke(request.operator.id, which);
  return { status: 200, body: JSON.stringify({ revoked }) };
}
