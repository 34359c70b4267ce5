import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { RESULT_TYPES } from '../domain/bet.ts';
import { BET_STATES } from '../domain/bet-state.ts';
import { BY_CHARS_MAX, type Caller, mayDo, REASON_CHARS_MAX } from '../domain/caller.ts';
import { unreachable } from '../domain/unreachable.ts';
import { storableText } from '../lib/storable-text.ts';
import type { Answer } from '../protocol/answers.ts';
import type { AuditLog } from '../store/audit/audit-log.ts';
import { type BetSearch, betCursorOf } from '../store/bets/search.ts';
import type { BetTimeline, BetTimelines } from '../store/bets/timeline.ts';
import type { PersonsWord, ResolvedResult } from '../store/bets/unknown-results.ts';
import { conflict, json, mayNotAnswer, notFoundAnswer, serve } from './answers.ts';
import type { AdminApi } from './api.ts';
import {
  auditedText,
  checkedBody,
  checkedPath,
  checkedQuery,
  timeField,
  wordAmong,
} from './input.ts';
import { answerText, errorText, messageText, personalText } from './personal.ts';

const betPath = z.object({ transactionId: storableText(64) });

const text = storableText(255).optional();

const amountField = z
  .string('must be given once, as text')
  .regex(/^\d{1,30}(\.\d{1,20})?$/, 'must be an amount such as 12.50')
  .transform(withoutZeros);

const searchQuery = z.strictObject({
  operator: text,
  operatorUser: text,
  userId: text,
  transactionId: storableText(64).optional(),
  state: wordAmong(BET_STATES).optional(),
  amount: amountField.optional(),
  from: timeField.optional(),
  to: timeField.optional(),
  cursor: z
    .string('must be given once')
    .transform(betCursorOf)
    .refine((cursor) => cursor !== undefined, 'must be the nextCursor of the previous page')
    .optional(),
});

const onRecord = { by: auditedText(BY_CHARS_MAX), reason: auditedText(REASON_CHARS_MAX) };

const resolveBody = z.discriminatedUnion(
  'holds',
  [
    z.strictObject({ holds: z.literal('stake'), ...onRecord }),
    z.strictObject({
      holds: z.literal('result'),
      amount: amountField,
      resultType: wordAmong(RESULT_TYPES),
      ...onRecord,
    }),
  ],
  'must be stake or result',
);

const NO_BET =
  'No such bet. An ended one also goes when its month is pruned: look for it in the statement of its day';

/** A person may write `007.50`, which is not a JSON number. */
function withoutZeros(amount: string): string {
  return amount.replace(/^0+(?=\d)/, '');
}

export interface BetDependencies {
  readonly timelines: Pick<BetTimelines, 'find'>;
  readonly bets: Pick<BetSearch, 'page'>;
  readonly audit: Pick<AuditLog, 'appendView'>;
  readonly resolveResult: (transactionId: string, word: PersonsWord) => Promise<ResolvedResult>;
}

/** Search for bets, the timeline of one, and the end of a doubt about its result, of any operator. */
export function betRoutes(app: FastifyInstance, dependencies: BetDependencies): void {
  const { timelines, bets, audit, resolveResult } = dependencies;
  serve(app, 'GET', '/bets', 'read', async (request, caller) => {
    const query = checkedQuery(searchQuery, request);
    if (!('fields' in query)) return query;
    const { operatorUser, userId } = query.fields;
    const isByPlayer = operatorUser !== undefined || userId !== undefined;
    // Searching by player would reveal whose bet it is.
    if (isByPlayer && !mayDo(caller, 'personal')) return mayNotAnswer(caller);
    const { items, nextCursor } = await bets.page(query.fields);
    const shownItems = items.map((item) => ({
      ...item,
      operatorUser: personalText(caller, item.operatorUser),
      userId: personalText(caller, item.userId),
    }));
    return json({ items: shownItems, nextCursor } satisfies AdminApi['GET /admin/bets']);
  });

  serve(app, 'GET', '/bets/:transactionId', 'read', async (request, caller) => {
    const path = checkedPath(betPath, request);
    if (!('fields' in path)) return path;
    const timeline = await timelines.find(path.fields.transactionId, undefined);
    if (timeline === undefined) return notFoundAnswer(NO_BET);
    if (timeline.userId !== null && mayDo(caller, 'personal')) {
      await audit.appendView(
        { caller },
        {
          action: 'player.viewed',
          subject: `player ${timeline.userId}`,
          operator: timeline.operator ?? undefined,
          after: { transactionId: timeline.transactionId },
        },
      );
    }
    return json(shown(timeline, caller));
  });

  serve(app, 'POST', '/bets/:transactionId/resolve', 'operate', async (request, caller) => {
    const path = checkedPath(betPath, request);
    if (!('fields' in path)) return path;
    const input = checkedBody(resolveBody, request);
    if (!('fields' in input)) return input;
    const { by: who, reason } = input.fields;
    const word = { found: foundIn(input.fields), who, why: reason, by: { caller, reason } };
    return resolveAnswer(await resolveResult(path.fields.transactionId, word));
  });
}

function foundIn(body: z.output<typeof resolveBody>): PersonsWord['found'] {
  if (body.holds === 'stake') return { kind: 'stake' };
  const { amount, resultType } = body;
  return { kind: 'result', amount, resultType };
}

function resolveAnswer(result: ResolvedResult): Answer {
  switch (result.kind) {
    case 'resolved':
      return json(result.item satisfies AdminApi['POST /admin/bets/:transactionId/resolve']);
    case 'refused':
      return conflict(result.why);
    case 'missing':
      return notFoundAnswer(NO_BET);
    default:
      return unreachable(result);
  }
}

/** A bet's timeline, masked for the caller. */
export type BetShown = ReturnType<typeof shown>;

function shown(timeline: BetTimeline, caller: Caller) {
  return {
    ...timeline,
    operatorUser: personalText(caller, timeline.operatorUser),
    userId: personalText(caller, timeline.userId),
    operations: timeline.operations.map((operation) => ({
      ...operation,
      answer: operation.answer && {
        ...operation.answer,
        body: answerText(caller, operation.answer.body),
      },
      attempts: operation.attempts.map(({ answer, error, ...attempt }) => ({
        ...attempt,
        error: errorText(caller, error),
        answer: answer && { ...answer, body: answerText(caller, answer.body) },
      })),
      request: messageText(caller, operation.request),
    })),
  };
}
