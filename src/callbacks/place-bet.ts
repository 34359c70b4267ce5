import { randomUUID } from 'node:crypto';
import { CODES } from '../domain/codes.ts';
import { type Deadline, WALLET_BUDGET_MS_MIN } from '../domain/deadline.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { NotSentReason } from '../domain/wallet-answer.ts';
import { type Brought, bring, inTime } from '../engine/attempt.ts';
import { presentGeneration } from '../engine/delivery-settings.ts';
import { OutOfTime } from '../lib/within.ts';
import type { PlaceRequest } from '../protocol/messages.ts';
import type { Session } from '../sessions/session.ts';
import type { PlaceBegin, PlaceIntent } from '../store/bets/place.ts';
import type { Wallet } from '../wallets/call.ts';
import { mismatchRefused, refused, systemError } from './answers.ts';
import { refusalToSend } from './askable-wallet.ts';
import type { Callbacks } from './context.ts';
import { detailOf, type Handled } from './handled.ts';
import { answerKnownPlace } from './known-place.ts';
import { firstPlaceAttempt, type PlaceConcluded, SYSTEM_ERROR } from './place-attempt.ts';
import { type PlaceRefusal, refusalForToken, refusedOnRecord } from './refused-place.ts';

/**
 * A place bet: find its player, record it, send it once, record the outcome, answer. Whatever is
 * not certain is answered 100, so that the service rolls the bet back (I2, I3, I5).
 * @throws GatewayError, OutOfTime when the journal failed before anything was sent
 */
export async function placeBet(
  callbacks: Callbacks,
  message: PlaceRequest,
  raw: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  const lookup = await callbacks.sessions.route(message.token);
  // What the session can never be for comes first: whether it still lives, a process may not know here.
  const unfit =
    lookup.kind === 'unknown' ? undefined : refusalOf(callbacks, message, lookup.session);
  if (unfit !== undefined) return await knownOrRefused(callbacks, message, raw, deadline, unfit);
  if (lookup.kind !== 'live') {
    const refusal = await refusalForToken(callbacks, message, lookup);
    return await knownOrRefused(callbacks, message, raw, deadline, refusal);
  }
  const { session } = lookup;
  const { operatorId } = session.owner;
  const wallet = callbacks.wallets.get(operatorId);
  // A removed operator is treated as one in maintenance.
  const unsendable =
    wallet === undefined ? 'maintenance' : refusalToSend(wallet, 'place', deadline);
  const intent = intentOf(callbacks, message, raw, session, unsendable);

  const begun =
    wallet === undefined || unsendable !== undefined
      ? await recordUnsent(callbacks, intent, deadline)
      : await send(callbacks, wallet, message, session, intent, deadline);
  switch (begun.kind) {
    case 'brought':
      return concluded(callbacks, message, operatorId, begun);
    case 'begun':
      callbacks.metrics.rejected.inc({ operator: operatorId, reason: unsendable ?? 'maintenance' });
      return systemError('not_sent', operatorId, { reason: unsendable });
    case 'known':
    case 'sessionOver': {
      const live = begun.kind === 'known' ? session : undefined;
      return (
        (await answerKnownPlace(callbacks, message, raw, deadline, live)) ??
        (await sessionOver(callbacks, message, raw, deadline, operatorId))
      );
    }
    case 'tooLate':
      callbacks.metrics.rejected.inc({ operator: operatorId, reason: 'database' });
      return systemError('not_sent', operatorId, { reason: 'database' });
    default:
      return unreachable(begun);
  }
}

/** Commits the intent while there is still time to send it, then brings it to the wallet. */
async function send(
  callbacks: Callbacks,
  wallet: Wallet,
  message: PlaceRequest,
  session: Session,
  intent: PlaceIntent,
  deadline: Deadline,
): Promise<Brought<PlaceConcluded> | PlaceBegin> {
  let wanted = true;
  try {
    return await bring<PlaceConcluded, PlaceBegin>(
      callbacks,
      firstPlaceAttempt(callbacks, wallet, message, session, intent, deadline),
      () => callbacks.places.begin(intent, deadline, () => wanted),
      deadline.walletMs() - WALLET_BUDGET_MS_MIN,
    );
  } catch (error) {
    wanted = false;
    callbacks.metrics.rejected.inc({ operator: intent.operatorId, reason: 'database' });
    throw error;
  }
}

/** A place that will not be sent has only to be recorded in time for its answer. */
async function recordUnsent(
  callbacks: Callbacks,
  intent: PlaceIntent,
  deadline: Deadline,
): Promise<PlaceBegin> {
  let wanted = true;
  try {
    return await inTime(
      deadline.answerMs(),
      () => callbacks.places.begin(intent, deadline, () => wanted),
      // Even when written late it is true: the place was not sent.
      () => undefined,
    );
  } catch (error) {
    wanted = false;
    callbacks.metrics.rejected.inc({ operator: intent.operatorId, reason: 'database' });
    throw error;
  }
}

/** Answers only what is committed: whatever was not written in time is answered 100. */
function concluded(
  callbacks: Callbacks,
  message: PlaceRequest,
  operatorId: string,
  brought: Brought<PlaceConcluded>,
): Handled {
  const { answer, conclusion } = brought.concluded;
  if (!brought.stands) return systemError('unknown', operatorId, { reason: 'not_recorded' });
  const { userId, amount, currency, transactionId } = message;
  void callbacks.answers.remember(transactionId, {
    ...{ userId, amount, currency, operatorId },
    ...answer,
  });
  const detail = detailOf(brought.sent.trace);
  return { answer, outcome: conclusion.outcome, operatorId, detail };
}

/** Why this session may not place this bet; undefined when it may. */
function refusalOf(
  callbacks: Callbacks,
  message: PlaceRequest,
  session: Session,
): PlaceRefusal | undefined {
  const mismatch = mismatchRefused(message, session);
  // A session is of one player and one currency for as long as it is known.
  if (mismatch !== undefined) return { refusal: mismatch, owner: undefined };
  const { owner } = session;
  const subPartnerId = callbacks.configuration().operators.get(owner.operatorId)?.subPartnerId;
  if (
    subPartnerId !== undefined &&
    message.subPartnerId !== null &&
    message.subPartnerId !== subPartnerId
  ) {
    const why = 'subPartnerId: is not the operator of this player';
    // The operator's file may be put right.
    return { refusal: refused(CODES.validation, why, owner.operatorId), owner };
  }
  return undefined;
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
    tokenHash: callbacks.sessions.hashOf(message.token),
    amount: message.amount,
    currency: message.currency,
    generation: presentGeneration(callbacks.configuration(), operatorId),
    requestId: message.requestId,
    body: raw,
    notSent: unsendable === undefined ? undefined : SYSTEM_ERROR,
  };
}

async function sessionOver(
  callbacks: Callbacks,
  message: PlaceRequest,
  raw: Buffer,
  deadline: Deadline,
  operatorId: string,
): Promise<Handled> {
  const lookup = await callbacks.sessions.findCertain(message.token);
  // Live again: a prefixed session was renewed in between, or it is the wallet that is over: it was replaced, and
  // this process has not read of that yet. The service places anew.
  if (lookup.kind === 'live') return systemError('not_sent', operatorId);
  // Perhaps not the session that this process remembers: a failover may have lost that, and its player.
  const unfit =
    lookup.kind === 'unknown' ? undefined : refusalOf(callbacks, message, lookup.session);
  const refusal = unfit ?? (await refusalForToken(callbacks, message, lookup));
  return await knownOrRefused(callbacks, message, raw, deadline, refusal);
}

/**
 * The answer of a known bet from the journal, whatever the state of its session; else the refusal.
 * @throws OutOfTime when the bet moved until nobody waited any more
 */
async function knownOrRefused(
  callbacks: Callbacks,
  message: PlaceRequest,
  raw: Buffer,
  deadline: Deadline,
  refusal: PlaceRefusal,
): Promise<Handled> {
  do {
    const known = await answerKnownPlace(callbacks, message, raw, deadline, undefined);
    if (known !== undefined) return known;
    const handled = await refusedOnRecord(callbacks, message, raw, deadline, refusal);
    if (handled !== 'moved') return handled;
  } while (deadline.answerMs() > 0);
  throw new OutOfTime(0);
}
