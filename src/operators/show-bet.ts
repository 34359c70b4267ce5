import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CODES } from '../domain/codes.ts';
import { storableText } from '../lib/storable-text.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { BetTimeline, BetTimelines } from '../store/bets/timeline.ts';
import { readFields } from './fields.ts';
import type { LargeAnswers } from './large-answers.ts';
import { type OperatorGate, type OperatorRequest, sendAnswer } from './request.ts';
import { signedMembers } from './signed-members.ts';

export const betFields = z.strictObject({
  ...signedMembers,
  transactionId: storableText(64),
});

/** Each further attempt costs as much as several lines of a statement, and so does an operation without any. */
const ATTEMPTS_FREE = 20;
const LINES_PER_ATTEMPT = 20;

export interface ShownBets {
  readonly gate: Pick<OperatorGate, 'admit' | 'limits'>;
  readonly timelines: Pick<BetTimelines, 'find'>;
  readonly largeAnswers: LargeAnswers;
}

/** `POST /operator/bets`: an operator's own bet as the gateway knows it. */
export async function sendBet(
  { gate, timelines, largeAnswers }: ShownBets,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const admitted = await gate.admit(request);
  if (!('operator' in admitted)) {
    sendAnswer(reply, admitted);
    return reply;
  }
  const { operator } = admitted;
  await largeAnswers.send(operator, reply, async () => {
    // Only now, in its turn: a request that waited behind large answers is limited as well.
    const limited = gate.limits.charge(operator, 'lines', 1);
    sendAnswer(reply, limited ?? (await shownBet(admitted, timelines, gate)));
  });
  return reply;
}

async function shownBet(
  { operator, document }: OperatorRequest,
  timelines: ShownBets['timelines'],
  { limits }: ShownBets['gate'],
): Promise<Answer> {
  const read = readFields(betFields, document);
  if (!('fields' in read)) return read;
  // Another operator's bet must look exactly like none at all (I8).
  const timeline = await timelines.find(read.fields.transactionId, operator.id);
  if (timeline === undefined) return failure(CODES.notFound, 'No such bet', 404);
  limits.owe(operator, 'lines', linesOf(timeline));
  const { operations, operator: _, ...bet } = timeline;
  const shown = operations.map(({ request: __, ...operation }) => operation);
  return { status: 200, body: JSON.stringify({ ...bet, operations: shown }) };
}

function linesOf({ operations }: BetTimeline): number {
  const shown = operations.reduce((sum, { attempts }) => sum + Math.max(1, attempts.length), 0);
  return Math.max(0, shown - ATTEMPTS_FREE) * LINES_PER_ATTEMPT;
}
