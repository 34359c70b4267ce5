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
 * The most answers per operator that are being built or not yet received. A rollback that a wallet
 * refused for days has a thousand attempts with the wallet's answers, which is some megabytes.
 */
const AT_ONCE = 8;

/** A caller that does not receive its answer within this is disconnected, to free the memory. */
const TAKEN_MS_MAX = 30_000;

/** A bet has a few attempts; each further one costs as much as several lines of a statement. */
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
    // Only now, in its turn: a request that waited behind large answers is limited as well.
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
