import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { JsonError, jsonString, parseJsonObject } from '../protocol/json.ts';
import type { BetTimeline, BetTimelines } from '../store/bets/timeline.ts';
import { json, notFoundAnswer, serve } from './answers.ts';
import { checkedPath, storableText } from './input.ts';

const betPath = z.object({ transactionId: storableText(64) });

export interface BetDesk {
  readonly timelines: Pick<BetTimelines, 'find'>;
}

/** The story of one bet, whoever's it is. */
export function betRoutes(app: FastifyInstance, { timelines }: BetDesk): void {
  serve(app, 'GET', '/bets/:transactionId', async (request) => {
    const path = checkedPath(betPath, request);
    if (!('fields' in path)) return path;
    const timeline = await timelines.find(path.fields.transactionId, undefined);
    return timeline === undefined ? notFoundAnswer('No such bet') : json(shown(timeline));
  });
}

function shown(timeline: BetTimeline) {
  return {
    ...timeline,
    operations: timeline.operations.map((operation) => ({
      ...operation,
      request: maskedText(operation.request),
    })),
  };
}

/** A message as JSON text, exact but for its token: who reads this must not play in its name. */
function maskedText(message: Buffer): string {
  try {
    const document = parseJsonObject(message);
    const token = document.value.token;
    return document.replace(typeof token === 'string' ? { token: jsonString('***') } : {});
  } catch (error) {
    if (error instanceof JsonError) return `not shown: ${error.message}`;
    throw error;
  }
}
