import { randomUUID } from 'node:crypto';
import { CODES } from '../domain/codes.ts';
import { concludePlace } from '../domain/conclude.ts';
import { WALLET_BUDGET_MS_MIN } from '../domain/deadline.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { NotSentReason } from '../domain/wallet-answer.ts';
import { OutOfTime } from '../lib/within.ts';
import type { Session } from '../sessions/session.ts';
import type { PlaceBegin, PlaceIntent } from '../store/bets/place.ts';
import type { Wallet } from '../wallets/call.ts';
import { type Handled, mismatchRefused, refused, SYSTEM_ERROR, systemError } from './answers.ts';
import { type Attempt, type AttemptResult, inTime, runAttempt } from './attempt.ts';
import { refusalToSend } from './call-wallet.ts';
import type { PlaceCallback } from './callbacks.ts';
import { answerKnownPlace } from './known-place.ts';
import { presentGeneration } from './operator-settings.ts';
import { answerAttempted, placeAttempt } from './place-attempt.ts';
import { type PlaceRefusal, recordRefusedPlace, refusalForToken } from './refused-place.ts';
import { rememberAnswer } from './remembered-answer.ts';

/**
 * A place: find its player, record it, send it once, record the outcome, answer. Anything uncertain is answered 100, so
 * that the service rolls the bet back (I2, I3, I5).
 * @throws GatewayError, OutOfTime if the journal failed before anything was sent
 */
export async function placeBet(placing: PlaceCallback): Promise<Handled> {
  const { callbacks, message, deadline } = placing;
  const lookup = await callbacks.sessions.route(message.token);
  // First what a session never changes: this process may not know yet that it has ended.
  const mismatch = lookup.kind === 'unknown' ? undefined : refusalOf(placing, lookup.session);
  if (mismatch !== undefined) return await knownOrRefused(placing, mismatch);
  if (lookup.kind !== 'live') {
    return await knownOrRefused(placing, await refusalForToken(placing, lookup));
  }
  const { session } = lookup;
  const { operatorId } = session.owner;
  const wallet = callbacks.wallets.get(operatorId);
  // A removed operator is treated as in maintenance.
  const unsendable =
    wallet === undefined ? 'maintenance' : refusalToSend(wallet, 'place', deadline);
  const intent = intentOf(placing, session, unsendable);

  const begun =
    wallet === undefined || unsendable !== undefined
      ? await recordUnsent(placing, intent)
      : await send(placing, wallet, session, intent);
  switch (begun.kind) {
    case 'attempted':
      return answerAndRemember(placing, operatorId, begun);
    case 'begun':
      // Only of `recordUnsent`: what `send` begins, it also attempts.
      callbacks.metrics.rejected.inc({ operator: operatorId, reason: unsendable ?? 'maintenance' });
      return systemError('not_sent', operatorId, { reason: unsendable });
    case 'known':
    case 'sessionOver': {
      const live = begun.kind === 'known' ? session : undefined;
      return (
        (await answerKnownPlace(placing, live)) ?? (await refuseOverSession(placing, operatorId))
      );
    }
    case 'tooLate':
      callbacks.metrics.rejected.inc({ operator: operatorId, reason: 'database' });
      return systemError('not_sent', operatorId, { reason: 'database' });
    default:
      return unreachable(begun);
  }
}

/** Commits the intent while it can still be sent, then sends it. */
async function send(
  placing: PlaceCallback,
  wallet: Wallet,
  session: Session,
  intent: PlaceIntent,
): Promise<AttemptResult | PlaceBegin> {
  const { callbacks, deadline } = placing;
  const { transactionId, attemptId } = intent;
  const attempt: Attempt = {
    ...placeAttempt(placing, wallet, session, intent),
    // It creates the bet's row: intents and outcomes of such places are written in batches.
    finish: (operationId, sent, record) => {
      const { place } = concludePlace(sent).change;
      const key = { transactionId, attemptId, operationId };
      const outcome = { ...key, place, attempt: record, lateAnswer: SYSTEM_ERROR };
      return callbacks.places.finish(outcome, deadline);
    },
  };
  return await whileWanted(placing, intent, (isWanted) =>
    runAttempt<PlaceBegin>(
      callbacks,
      attempt,
      () => callbacks.places.begin(intent, deadline, isWanted),
      deadline.walletMs() - WALLET_BUDGET_MS_MIN,
    ),
  );
}

/** A place that is not sent only has to be recorded in time for its answer. */
async function recordUnsent(placing: PlaceCallback, intent: PlaceIntent): Promise<PlaceBegin> {
  const { callbacks, deadline } = placing;
  return await whileWanted(placing, intent, (isWanted) =>
    inTime(deadline.answerMs(), () => callbacks.places.begin(intent, deadline, isWanted)),
  );
}

/** If a place cannot be begun in time, it counts as rejected and leaves the batch. */
async function whileWanted<T>(
  { callbacks }: PlaceCallback,
  { operatorId }: PlaceIntent,
  begin: (isWanted: () => boolean) => Promise<T>,
): Promise<T> {
  let wanted = true;
  try {
    return await begin(() => wanted);
  } catch (error) {
    wanted = false;
    callbacks.metrics.rejected.inc({ operator: operatorId, reason: 'database' });
    throw error;
  }
}

/** Redis remembers the answer once it is committed. */
function answerAndRemember(
  placing: PlaceCallback,
  operatorId: string,
  attempted: AttemptResult,
): Handled {
  if (attempted.committedInTime) rememberAnswer(placing, operatorId, attempted.concluded.answer);
  return answerAttempted(operatorId, attempted);
}

/** Why this session may not place this bet; undefined if it may. */
function refusalOf(
  { callbacks, message }: PlaceCallback,
  session: Session,
): PlaceRefusal | undefined {
  const mismatch = mismatchRefused(message, session);
  // Permanent: a session never changes its player or its currency.
  if (mismatch !== undefined) return { refusal: mismatch, owner: undefined };
  const { owner } = session;
  const subPartnerId = callbacks.configuration().operators.get(owner.operatorId)?.subPartnerId;
  if (
    subPartnerId !== undefined &&
    message.subPartnerId !== null &&
    message.subPartnerId !== subPartnerId
  ) {
    const why = 'subPartnerId: is not the operator of this player';
    // Not permanent: the operator's file may be corrected.
    return { refusal: refused(CODES.validation, why, owner.operatorId), owner };
  }
  return undefined;
}

/** @param unsendable why the place is not sent; undefined if it is */
function intentOf(
  { callbacks, message, stored }: PlaceCallback,
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
    body: stored,
    notSent: unsendable === undefined ? undefined : SYSTEM_ERROR,
  };
}

/** The journal refused the intent (`sessionOver`): refuses the place with the session's present reason. */
async function refuseOverSession(placing: PlaceCallback, operatorId: string): Promise<Handled> {
  const { callbacks, message } = placing;
  const lookup = await callbacks.sessions.findCertain(message.token);
  // A profile has just renewed a prefixed session, or the wallet's generation was replaced and this process has not
  // read that yet. Code 100: the service rolls back and may place again.
  if (lookup.kind === 'live') return systemError('not_sent', operatorId);
  // It may differ from the session cached here: a failover may have lost that one and its player.
  const mismatch = lookup.kind === 'unknown' ? undefined : refusalOf(placing, lookup.session);
  const refusal = mismatch ?? (await refusalForToken(placing, lookup));
  return await knownOrRefused(placing, refusal);
}

/** The journal's answer if it has the bet; otherwise the refusal. @throws OutOfTime if the bet kept changing */
async function knownOrRefused(placing: PlaceCallback, refusal: PlaceRefusal): Promise<Handled> {
  do {
    const known = await answerKnownPlace(placing, undefined);
    if (known !== undefined) return known;
    const handled = await recordRefusedPlace(placing, refusal);
    if (handled !== 'moved') return handled;
  } while (placing.deadline.answerMs() > 0);
  throw new OutOfTime(0);
}
