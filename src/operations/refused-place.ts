import { randomUUID } from 'node:crypto';
import type { Bet, BetOwner } from '../domain/bet.ts';
import { decidePlace } from '../domain/decide.ts';
import type { Answer } from '../protocol/answers.ts';
import { type PlaceRequest, parseBet } from '../protocol/messages.ts';
import type { SessionLookup } from '../sessions/session.ts';
import { splitToken } from '../sessions/session.ts';
import type { Handled } from './answers.ts';
import { tokenRefused } from './answers.ts';
import { inTime } from './attempt.ts';
import type { PlaceCallback } from './callbacks.ts';
import { recordOf } from './commit.ts';
import { unseenBet } from './find-bet.ts';

type NotLive = Exclude<SessionLookup, { kind: 'live' }>;

/** The refusal of a place without calling its wallet. */
export interface PlaceRefusal {
  readonly refusal: Handled;
  /** The player whose bet the same bytes could become; undefined if they never can. */
  readonly owner: BetOwner | undefined;
}

/** Refuses a place whose token is not live; a later profile may still make a prefixed one live. */
export async function refusalForToken(
  placing: PlaceCallback,
  lookup: NotLive,
): Promise<PlaceRefusal> {
  const owner = await ownerOnceLive(placing, lookup);
  return { refusal: tokenRefused(lookup), owner };
}

/**
 * Records a refusal that may stop applying, then answers with it: the service takes it as final and never rolls back,
 * so the same bytes must not become a bet later (docs/money-safety.md).
 * @returns 'moved' if a copy of this place was faster and has an answer
 * @throws OutOfTime, GatewayError if it cannot be recorded: answered 100, the service rolls back
 */
export async function recordRefusedPlace(
  placing: PlaceCallback,
  { refusal, owner }: PlaceRefusal,
): Promise<Handled | 'moved'> {
  if (owner === undefined) return refusal;
  const { callbacks, message, deadline } = placing;
  const { transactionId } = message;
  const bet =
    (await callbacks.bets.find(transactionId)) ?? unseenBet(callbacks, transactionId, owner);
  if (decidePlace(bet, message).kind !== 'send') return 'moved';
  const record = recordOf(placing, randomUUID(), refusal.answer);
  const isWritten = await inTime(deadline.answerMs(), () =>
    callbacks.bets.recordRefusal(bet, record, deadline),
  );
  return isWritten ? refusal : 'moved';
}

/** The player whose bet this would be with a live token; undefined if it never can be. */
async function ownerOnceLive(
  { callbacks, message }: PlaceCallback,
  lookup: NotLive,
): Promise<BetOwner | undefined> {
  const { token, userId } = message;
  // By the token alone: the operator's file may be missing, or say `issued`, and be corrected.
  const prefix = splitToken(token);
  // An issued session never comes back, nor does an ended one.
  if (prefix === undefined || lookup.kind === 'ended') return undefined;
  if (lookup.kind === 'expired') return lookup.session.owner;
  // Not recorded for an unknown player: a new one gets another id than this place has, unless people import that very
  // id (docs/money-safety.md).
  const owner = await callbacks.players.findByUserId(userId);
  return owner?.operatorId === prefix.operatorId ? owner : undefined;
}

/** The refusal of this place with the same token and `subPartnerId`. @throws GatewayError `DATABASE_UNAVAILABLE` */
export async function recordedRefusal(
  { callbacks, stored }: PlaceCallback,
  bet: Bet,
): Promise<Answer | undefined> {
  const recorded = await callbacks.bets.operationsOf(bet.transactionId);
  const asked = decidingMembers(stored);
  return recorded.find(({ operation, body }) => {
    if (operation !== 'place') return false;
    const before = decidingMembers(body);
    return before?.token === asked?.token && before?.subPartnerId === asked?.subPartnerId;
  })?.answer;
}

/** The members that a refusal depends on, from a stored place with its token's hash. */
function decidingMembers(body: Buffer): Pick<PlaceRequest, 'token' | 'subPartnerId'> | undefined {
  const parsed = parseBet('POST', body);
  return parsed.ok && parsed.message.operation === 'place' ? parsed.message : undefined;
}
