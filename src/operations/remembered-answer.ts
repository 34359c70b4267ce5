import { sameAmount } from '../domain/amount.ts';
import { GatewayError } from '../domain/errors.ts';
import { OutOfTime } from '../lib/within.ts';
import type { Answer } from '../protocol/answers.ts';
import type { PlaceRequest } from '../protocol/messages.ts';
import type { Handled } from './answers.ts';
import { answerDuplicate } from './answers.ts';
import type { Callbacks, PlaceCallback } from './callbacks.ts';

// A place's final answer in Redis: written once it is committed, read only while PostgreSQL is down.

/** Nobody waits for Redis or depends on it. */
export function rememberAnswer(
  { callbacks, message }: PlaceCallback,
  operatorId: string,
  answer: Answer,
): void {
  const { userId, amount, currency, transactionId } = message;
  void callbacks.answers.remember(transactionId, {
    userId,
    amount,
    currency,
    operatorId,
    ...answer,
  });
}

/** The stored final answer to the same content, if there is one. */
async function answerFromRedis(
  callbacks: Callbacks,
  message: PlaceRequest,
): Promise<Handled | undefined> {
  const known = await callbacks.answers.find(message.transactionId);
  if (
    known === undefined ||
    known.userId !== message.userId ||
    known.currency !== message.currency ||
    !sameAmount(known.amount, message.amount)
  ) {
    return undefined;
  }
  const { operatorId, status, body } = known;
  return answerDuplicate(callbacks, { operation: 'place', operatorId }, 'redis', { status, body });
}

/** A copy's answer while PostgreSQL is down. @throws GatewayError, OutOfTime: the given error, if Redis has none */
export async function answerWithoutJournal(
  callbacks: Callbacks,
  message: PlaceRequest,
  error: unknown,
): Promise<Handled> {
  const remembered =
    error instanceof GatewayError || error instanceof OutOfTime
      ? await answerFromRedis(callbacks, message)
      : undefined;
  if (remembered === undefined) throw error;
  return remembered;
}
