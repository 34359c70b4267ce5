import { finished } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { CODES } from '../domain/codes.ts';
import { KeyedSemaphore } from '../lib/keyed-semaphore.ts';
import { type Answer, failure } from '../protocol/answers.ts';
import type { BetTimeline, BetTimelines } from '../store/bets/timeline.ts';
import { keptText, readFields } from './fields.ts';
import { type OperatorGate, type OperatorRequest, sendAnswer } from './request.ts';
import { signedMembers } from './signed-members.ts';

export const betFields = z.strictObject({
  ...signedMembers,
  transactionId: keptText(64),
});

/**
 * Of one operator, answers that are being made or have not been taken yet. A rollback that a wallet
 * refused for days has a thousand attempts with what it said, which makes some megabytes.
 */
const AT_ONCE = 8;

/** Who does not take an answer in this time does not get it: its memory is wanted. */
const TAKEN_MS_MAX = 30_000;

/** A bet has a few attempts; those beyond cost so much more than a line of a statement does. */
const ATTEMPTS_FREE = 20;
const LINES_PER_ATTEMPT = 20;

export interface ShownBets {
  readonly gate: Pick<OperatorGate, 'admit' | 'limits'>;
  readonly timelines: Pick<BetTimelines, 'find'>;
}

/** `POST /operator/bets`: an operator's own bet as the gateway knows it. */
export function betShower({ gate, timelines }: ShownBets) {
  const semaphore = new KeyedSemaphore(AT_ONCE);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const admitted = await gate.admit(request);
    if (!('operator' in admitted)) {
      sendAnswer(reply, admitted);
      return reply;
    }
    const { operator } = admitted;
    const done = await semaphore.take(operator.id);
    finished(reply.raw, done);
    if (reply.raw.destroyed) return reply;
    // In its turn: who has been waiting behind large ones is told so as well.
    const limited = gate.limits.charge(operator, 'lines', 1);
    sendAnswer(reply, limited ?? (await shownBet(admitted, timelines, gate)));
    const limit = setTimeout(() => reply.raw.destroy(), TAKEN_MS_MAX).unref();
    finished(reply.raw, () => clearTimeout(limit));
    return reply;
  };
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
  const attempts = operations.reduce((sum, operation) => sum + operation.attempts.length, 0);
  return Math.max(0, attempts - ATTEMPTS_FREE) * LINES_PER_ATTEMPT;
}
