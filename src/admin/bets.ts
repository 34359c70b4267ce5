import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Caller } from '../domain/caller.ts';
import type { BetTimeline, BetTimelines } from '../store/bets/timeline.ts';
import { json, notFoundAnswer, serve } from './answers.ts';
import { checkedPath, storableText } from './input.ts';
import { answerText, messageText, personalText } from './personal.ts';

const betPath = z.object({ transactionId: storableText(64) });

export interface BetDesk {
  readonly timelines: Pick<BetTimelines, 'find'>;
}

/** The story of one bet, whoever's it is. */
export function betRoutes(app: FastifyInstance, { timelines }: BetDesk): void {
  serve(app, 'GET', '/bets/:transactionId', 'read', async (request, caller) => {
    const path = checkedPath(betPath, request);
    if (!('fields' in path)) return path;
    const timeline = await timelines.find(path.fields.transactionId, undefined);
    return timeline === undefined ? notFoundAnswer('No such bet') : json(shown(timeline, caller));
  });
}

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
      attempts: operation.attempts.map(({ answer, ...attempt }) => ({
        ...attempt,
        answer: answer && { ...answer, body: answerText(caller, answer.body) },
      })),
      request: messageText(caller, operation.request),
    })),
  };
}
