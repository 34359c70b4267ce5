import { randomUUID } from 'node:crypto';
import type { Bet } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { within } from '../lib/within.ts';
import type { PlaceRequest } from '../protocol/messages.ts';
import type { Session } from '../sessions/session.ts';
import { attemptOf } from '../store/bets/attempt-of.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import { systemError } from './answers.ts';
import type { Callbacks, Handled } from './context.ts';
import { placeOutcome } from './place-outcome.ts';

/**
 * A place that comes after another operation of its bet (a settle or update that was faster). The
 * bet has its row already, so the place is written there instead of inserted; all else is as ever.
 * @returns 'moved' when the bet changed since it was read
 * @throws GatewayError, OutOfTime when the journal failed; the answer is then 100, as ever
 */
export async function placeUnseen(
  callbacks: Callbacks,
  bet: Bet,
  message: PlaceRequest,
  raw: Buffer,
  session: Session,
  deadline: Deadline,
): Promise<Handled | 'moved'> {
  const { operatorId, operatorUser } = session.owner;
  const wallet = callbacks.wallets.get(operatorId);
  const attemptId = randomUUID();
  const operationId = await within(
    deadline.walletMs(),
    callbacks.bets.commit({
      from: bet,
      to: {
        ...bet,
        owner: session.owner,
        sessionId: session.sessionId,
        amount: message.amount,
        currency: message.currency,
        place: { kind: 'inFlight' },
        busy: { operation: 'place', attemptId, lapsed: false },
      },
      record: {
        operation: 'place',
        attemptId,
        requestId: message.requestId,
        body: raw,
        answer: undefined,
      },
      delivery: undefined,
      supersedes: [],
    }),
  );
  if (operationId === undefined) return 'moved';

  const startedAtMs = callbacks.clock.nowMs();
  const sent: BetAnswer =
    wallet === undefined
      ? { kind: 'notSent', reason: 'maintenance', trace: { sent: false, latencyMs: 0 } }
      : await wallet.bet({
          operation: 'place',
          method: 'POST',
          body: walletBody(message.document, operatorUser, session.operatorToken),
          transactionId: message.transactionId,
          requestId: message.requestId ?? randomUUID(),
          deadline,
        });
  const { place, answer, word } = placeOutcome(message.transactionId, sent);
  if (sent.kind === 'unknown') {
    callbacks.metrics.unknownOutcomes.inc({ operator: operatorId, operation: 'place' });
  }
  const stands = await within(
    deadline.answerMs(),
    callbacks.bets.finish({
      transactionId: message.transactionId,
      attemptId,
      operationId,
      attempt: attemptOf(sent, startedAtMs, answer),
      place,
      delivery: { kind: 'none' },
    }),
  );
  callbacks.watch.changed(message.transactionId);
  return stands
    ? { answer, outcome: word, operatorId }
    : systemError('unknown', operatorId, { reason: 'lease_over' });
}
