import { randomUUID } from 'node:crypto';
import type { Bet } from '../domain/bet.ts';
import { CODES } from '../domain/codes.ts';
import { decidePlace } from '../domain/decide.ts';
import { GatewayError } from '../domain/errors.ts';
import { unreachable } from '../domain/unreachable.ts';
import { OutOfTime, within } from '../lib/within.ts';
import { type Answer, accepted, failure } from '../protocol/answers.ts';
import type { Session } from '../sessions/session.ts';
import {
  answerConflict,
  answerDuplicate,
  type Handled,
  refused,
  SYSTEM_ERROR,
  systemError,
} from './answers.ts';
import { inTime, runAttempt } from './attempt.ts';
import type { PlaceCallback } from './callbacks.ts';
import { commitInTime, recordOf } from './commit.ts';
import { findRecoveredBet } from './find-bet.ts';
import { isInOtherBooks, presentGeneration } from './operator-settings.ts';
import { answerAttempted, placeAttempt } from './place-attempt.ts';
import { recordedRefusal } from './refused-place.ts';

/**
 * The answer to a known place: the recorded one, a conflict, a rollback's fence, or that of a copy in flight, awaited
 * within this copy's own deadline.
 * @param session lets the place be sent if the journal has the bet only from other operations
 * @returns undefined if the bet is not in the journal, or is there only so and no session is live
 */
export async function answerKnownPlace(
  placing: PlaceCallback,
  session: Session | undefined,
): Promise<Handled | undefined> {
  const { callbacks, message, deadline } = placing;
  // Only the journal counts, even if Redis has an answer: a rollback that never reached Redis must still refuse this
  // copy (I6).
  for (let turn = 0; ; turn += 1) {
    const bet = await findRecoveredBet(callbacks, message.transactionId);
    if (bet === undefined) return undefined;
    const operatorId = bet.owner?.operatorId;
    const decision = decidePlace(bet, message);
    const source = turn > 0 ? 'in_flight' : 'journal';
    const repeated = (answer: Answer) =>
      answerDuplicate(callbacks, { operation: 'place', operatorId }, source, answer);
    switch (decision.kind) {
      case 'wait':
        if (await callbacks.changes.next(message.transactionId, deadline, turn)) continue;
        return systemError('unknown', operatorId, { reason: 'deadline' });
      case 'conflict': {
        const { transactionId } = message;
        const known = { operation: 'place', operatorId, transactionId } as const;
        const handled = answerConflict(callbacks, known, decision.why);
        // For the same player, these bytes sent by PUT would be an unsettle of that bet.
        if (bet.owner?.userId === message.userId) {
          await recordPlaceCopy(placing, bet, handled.answer);
        }
        return handled;
      }
      case 'fenced':
        return refused(CODES.alreadyProcessed, 'The bet is rolled back', operatorId, 'declined');
      case 'repeat': {
        const answer = accepted(bet.transactionId, decision.transactionTime);
        await recordPlaceCopy(placing, bet, answer);
        return repeated(answer);
      }
      case 'repeatRefusal':
        return repeated(failure(decision.code, decision.message));
      case 'send': {
        const before = await recordedRefusal(placing, bet);
        if (before !== undefined) return repeated(before);
        if (session === undefined || isReleasedElsewhere(placing, bet, session)) return undefined;
        if (!(await isLive(placing, session))) return undefined;
        const placed = await placeLater(placing, bet, session);
        if (placed === 'moved') continue;
        return placed;
      }
      default:
        return unreachable(decision);
    }
  }
}

/** Whether its bets were released past the wallet configured here; a first place's intent checks the same. */
function isReleasedElsewhere(
  { callbacks }: PlaceCallback,
  { released, releasedTo }: Bet,
  { owner }: Session,
): boolean {
  const generation = presentGeneration(callbacks.configuration(), owner.operatorId);
  return isInOtherBooks(callbacks.configuration(), { owner, generation, released, releasedTo });
}

/** Checked again: this place may have waited for seconds since its session was read. */
async function isLive(
  { callbacks, message }: PlaceCallback,
  { sessionId }: Session,
): Promise<boolean> {
  const lookup = await callbacks.sessions.findCertain(message.token);
  return lookup.kind === 'live' && lookup.session.sessionId === sessionId;
}

/** A place after other operations of its bet, whose row it updates. @returns 'moved' if the bet has changed */
async function placeLater(
  placing: PlaceCallback,
  bet: Bet,
  session: Session,
): Promise<Handled | 'moved'> {
  const { callbacks, message, deadline } = placing;
  const { operatorId } = session.owner;
  const wallet = callbacks.wallets.get(operatorId);
  const attemptId = randomUUID();
  // A bet belongs to the wallet that gets its place, so the generation is the present one.
  const generation = presentGeneration(callbacks.configuration(), operatorId);
  const begin = (answer: Answer | undefined) =>
    commitInTime(callbacks, deadline, {
      from: bet,
      to: {
        ...bet,
        owner: session.owner,
        sessionId: session.sessionId,
        amount: message.amount,
        currency: message.currency,
        generation,
        place: { kind: answer === undefined ? 'inFlight' : 'notSent' },
        busy: answer === undefined ? { operation: 'place', attemptId, lapsed: false } : undefined,
      },
      record: recordOf(placing, attemptId, answer),
      delivery: undefined,
      supersedes: [],
    });
  if (wallet === undefined) {
    const recorded = await inTime(deadline.answerMs(), () => begin(SYSTEM_ERROR));
    if (recorded.kind === 'moved') return 'moved';
    const reason = 'maintenance';
    callbacks.metrics.rejected.inc({ operator: operatorId, reason });
    return systemError('not_sent', operatorId, { reason });
  }
  const attempt = placeAttempt(placing, wallet, session, { attemptId, generation });
  const attempted = await runAttempt(
    callbacks,
    attempt,
    () => begin(undefined),
    deadline.walletMs(),
  );
  return attempted.kind === 'moved' ? 'moved' : answerAttempted(operatorId, attempted);
}

/**
 * Records a copy of an accepted place, or a contradiction to its bet: sent by `PUT`, its bytes would be a new unsettle
 * (`recordedAnswer`). If that fails, it is still answered: otherwise the service would roll an accepted bet back.
 */
export async function recordPlaceCopy(
  placing: PlaceCallback,
  bet: Bet,
  answer: Answer,
): Promise<void> {
  const { callbacks, message, stored, deadline } = placing;
  const { bets, logger } = callbacks;
  const { transactionId, requestId } = message;
  const operatorId = bet.owner?.operatorId;
  try {
    const known = bets.hasPlace({ transactionId, requestId, body: stored });
    if (await within(deadline.answerMs(), known)) return;
    const record = recordOf(placing, randomUUID(), answer);
    await inTime(deadline.answerMs(), () =>
      bets.recordCopy({ transactionId, operatorId }, record, deadline),
    );
  } catch (error) {
    if (!(error instanceof GatewayError || error instanceof OutOfTime)) throw error;
    logger.warn({ err: error, operator: operatorId, transactionId }, 'place.copy_not_recorded');
  }
}
