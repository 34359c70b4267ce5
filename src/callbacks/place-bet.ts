import { randomUUID } from 'node:crypto';
import { CODES } from '../domain/codes.ts';
import { type Deadline, WALLET_BUDGET_MS_MIN } from '../domain/deadline.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer, NotSentReason } from '../domain/wallet-answer.ts';
import { OutOfTime, within } from '../lib/within.ts';
import type { PlaceRequest } from '../protocol/messages.ts';
import type { Session } from '../sessions/session.ts';
import { tokenRefusal } from '../sessions/session.ts';
import { attemptOf } from '../store/bets/attempt-of.ts';
import type { PlaceBegin, PlaceIntent } from '../store/bets/place-journal.ts';
import type { Wallet } from '../wallets/call.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import { refused, systemError } from './answers.ts';
import type { Callbacks, Handled } from './context.ts';
import { answerKnownPlace } from './known-place.ts';
import { placeOutcome, SYSTEM_ERROR } from './place-outcome.ts';

/**
 * A place bet: whose is it, write it down, send it once, write down what came of it, answer.
 * Whatever is not certain is answered 100, so that the service rolls the bet back (I2, I3, I5).
 * @throws GatewayError, OutOfTime when the journal failed before anything was sent
 */
export async function placeBet(
  callbacks: Callbacks,
  message: PlaceRequest,
  raw: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  const lookup = await callbacks.sessions.route(message.token);
  const refusal =
    lookup.kind === 'live' ? refusalOf(callbacks, message, lookup.session) : tokenRefused(lookup);
  if (lookup.kind !== 'live' || refusal !== undefined) {
    // A bet that is known is answered from the journal whatever has become of its session.
    const known = await answerKnownPlace(callbacks, message, raw, deadline, undefined);
    return known ?? refusal ?? refused(CODES.invalidToken, 'Invalid token', undefined);
  }
  const { session } = lookup;
  const { operatorId } = session.owner;
  const wallet = callbacks.wallets.get(operatorId);
  const unsendable = refusalToSend(wallet, deadline);
  const intent = intentOf(callbacks, message, raw, session, unsendable);

  const begun = await begin(callbacks, intent, deadline);
  switch (begun.kind) {
    case 'known':
      return (
        (await answerKnownPlace(callbacks, message, raw, deadline, session)) ??
        systemError('error', operatorId)
      );
    case 'sessionOver':
      return (
        (await answerKnownPlace(callbacks, message, raw, deadline, undefined)) ??
        (await sessionOver(callbacks, message, operatorId))
      );
    case 'begun':
      break;
    default:
      return unreachable(begun);
  }
  if (unsendable !== undefined || wallet === undefined) {
    callbacks.metrics.rejected.inc({ operator: operatorId, reason: unsendable ?? 'maintenance' });
    return systemError('not_sent', operatorId, { reason: unsendable });
  }

  const startedAtMs = callbacks.clock.nowMs();
  const sent = await wallet.bet({
    operation: 'place',
    method: 'POST',
    body: walletBody(message.document, session.owner.operatorUser, session.operatorToken),
    transactionId: message.transactionId,
    requestId: message.requestId ?? randomUUID(),
    deadline,
  });
  return await recordOutcome(callbacks, message, session, intent, begun.operationId, {
    sent,
    startedAtMs,
    deadline,
  });
}

/** Why this session may not place this bet, as an answer; undefined when it may. */
function refusalOf(
  callbacks: Callbacks,
  message: PlaceRequest,
  session: Session,
): Handled | undefined {
  const { operatorId, userId } = session.owner;
  if (userId !== message.userId || session.currency !== message.currency) {
    return refused(CODES.invalidToken, 'Invalid token', operatorId);
  }
  const subPartnerId = callbacks.configuration().operators.get(operatorId)?.subPartnerId;
  if (
    subPartnerId !== undefined &&
    message.subPartnerId !== null &&
    message.subPartnerId !== subPartnerId
  ) {
    return refused(
      CODES.validation,
      'subPartnerId: is not the operator of this player',
      operatorId,
    );
  }
  return undefined;
}

function tokenRefused(lookup: Parameters<typeof tokenRefusal>[0]): Handled {
  const code = tokenRefusal(lookup);
  return refused(
    code,
    code === CODES.invalidToken ? 'Invalid token' : 'Token out of date',
    lookup.kind === 'unknown' ? undefined : lookup.session.owner.operatorId,
  );
}

/** Why the place would not leave at all. A removed operator is treated as one in maintenance. */
function refusalToSend(wallet: Wallet | undefined, deadline: Deadline): NotSentReason | undefined {
  if (wallet === undefined) return 'maintenance';
  return wallet.refusal('place') ?? (deadline.allowsWalletCall() ? undefined : 'deadline');
}

function intentOf(
  callbacks: Callbacks,
  message: PlaceRequest,
  raw: Buffer,
  session: Session,
  unsendable: NotSentReason | undefined,
): PlaceIntent {
  const { operatorId, playerId } = session.owner;
  return {
    transactionId: message.transactionId,
    attemptId: randomUUID(),
    operatorId,
    playerId,
    sessionId: session.sessionId,
    amount: message.amount,
    currency: message.currency,
    generation: callbacks.configuration().operators.get(operatorId)?.wallet.generation ?? 1,
    requestId: message.requestId,
    body: raw,
    notSent: unsendable === undefined ? undefined : SYSTEM_ERROR,
  };
}

/** Commits the intent while there is still time to send it; never leaves one that nobody owns. */
async function begin(
  callbacks: Callbacks,
  intent: PlaceIntent,
  deadline: Deadline,
): Promise<PlaceBegin> {
  let wanted = true;
  const begun = callbacks.places.begin(intent, () => wanted);
  // What will not be sent needs only be written in time for its answer.
  const limitMs =
    intent.notSent === undefined
      ? Math.max(0, deadline.walletMs() - WALLET_BUDGET_MS_MIN)
      : deadline.answerMs();
  try {
    return await within(limitMs, begun);
  } catch (error) {
    wanted = false;
    callbacks.metrics.rejected.inc({ operator: intent.operatorId, reason: 'database' });
    if (error instanceof OutOfTime) closeLateIntent(callbacks, intent, begun);
    throw error;
  }
}

/** An intent that was committed after its caller gave up was certainly never sent. */
function closeLateIntent(
  callbacks: Callbacks,
  intent: PlaceIntent,
  begun: Promise<PlaceBegin>,
): void {
  begun
    .then(async (late) => {
      if (late.kind !== 'begun' || intent.notSent !== undefined) return;
      await callbacks.places.finish({
        transactionId: intent.transactionId,
        attemptId: intent.attemptId,
        operationId: late.operationId,
        place: { kind: 'notSent' },
        attempt: {
          startedAtMs: callbacks.clock.nowMs(),
          result: 'database',
          trace: { sent: false, latencyMs: 0, error: 'the intent was committed too late' },
          answer: SYSTEM_ERROR,
        },
      });
    })
    .catch((error: unknown) => {
      // Its lease ends and the sweep calls it unknown, which is safe if less precise.
      callbacks.logger.warn(
        { err: error, transactionId: intent.transactionId },
        'place.late_intent',
      );
    });
}

async function sessionOver(
  callbacks: Callbacks,
  message: PlaceRequest,
  operatorId: string,
): Promise<Handled> {
  const lookup = await callbacks.sessions.findCertain(message.token);
  // Live again: a prefixed session was renewed in between. The service places anew.
  return lookup.kind === 'live' ? systemError('not_sent', operatorId) : tokenRefused(lookup);
}

/** Answers only what is committed: whatever was not written in time is answered 100. */
async function recordOutcome(
  callbacks: Callbacks,
  message: PlaceRequest,
  session: Session,
  intent: PlaceIntent,
  operationId: string,
  call: { readonly sent: BetAnswer; readonly startedAtMs: number; readonly deadline: Deadline },
): Promise<Handled> {
  const { sent } = call;
  const { operatorId } = session.owner;
  const outcome = placeOutcome(message.transactionId, sent);
  if (sent.kind === 'unknown') {
    callbacks.metrics.unknownOutcomes.inc({ operator: operatorId, operation: 'place' });
  }
  const finished = callbacks.places.finish({
    transactionId: message.transactionId,
    attemptId: intent.attemptId,
    operationId,
    place: outcome.place,
    attempt: attemptOf(sent, call.startedAtMs, outcome.answer),
  });
  try {
    const stands = await within(call.deadline.answerMs(), finished);
    if (!stands) return systemError('unknown', operatorId, { reason: 'lease_over' });
  } catch (error) {
    callbacks.logger.error(
      { err: error, operator: operatorId, transactionId: message.transactionId },
      'place.outcome_not_recorded',
    );
    // It may still be written; then the journal knows better than this answer, which is safe.
    return systemError('unknown', operatorId, { reason: 'database' });
  } finally {
    callbacks.watch.changed(message.transactionId);
  }
  void callbacks.answers.remember(message.transactionId, {
    userId: message.userId,
    amount: message.amount,
    currency: message.currency,
    operatorId,
    ...outcome.answer,
  });
  return {
    answer: outcome.answer,
    outcome: outcome.word,
    operatorId,
    detail: { walletMs: Math.round(sent.trace.latencyMs), code: sent.trace.code },
  };
}
