import { randomUUID } from 'node:crypto';
import type { Bet } from '../domain/bet.ts';
import { GatewayError } from '../domain/errors.ts';
import { OutOfTime, within } from '../lib/within.ts';
import type { Answer } from '../protocol/answers.ts';
import { inTime } from './attempt.ts';
import type { PlaceCallback } from './callbacks.ts';

/**
 * Records a copy of an accepted place, or one that contradicts its bet, unless its request is on record:
 * the method is not signed, and its bytes sent by `PUT` would be an unsettle not seen before
 * (`recordedAnswer`). If recording fails, the copy still gets its answer, because any other would
 * make the service roll back a bet that it was told is accepted.
 */
export async function recordPlaceCopy(
  { callbacks, message, stored, deadline }: PlaceCallback,
  bet: Bet,
  answer: Answer,
): Promise<void> {
  const { bets, logger } = callbacks;
  const { transactionId, requestId } = message;
  const operatorId = bet.owner?.operatorId;
  try {
    const known = bets.hasPlace({ transactionId, requestId, body: stored });
    if (await within(deadline.answerMs(), known)) return;
    const attemptId = randomUUID();
    const record = { operation: 'place', attemptId, requestId, body: stored, answer } as const;
    await inTime(
      deadline.answerMs(),
      () => bets.recordCopy({ transactionId, operatorId }, record, deadline),
      () => undefined,
    );
  } catch (error) {
    if (!(error instanceof GatewayError || error instanceof OutOfTime)) throw error;
    logger.warn({ err: error, operator: operatorId, transactionId }, 'place.copy_not_recorded');
  }
}
