import { randomUUID } from 'node:crypto';
import type { Bet, BetOwner } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import { decidePlace } from '../domain/decide.ts';
import { inTime } from '../engine/attempt.ts';
import { unseenBet } from '../engine/find-bet.ts';
import type { Answer } from '../protocol/answers.ts';
import { type PlaceRequest, parseBet } from '../protocol/messages.ts';
import type { SessionLookup } from '../sessions/session.ts';
import { tokenRefused } from './answers.ts';
import type { Callbacks } from './context.ts';
import type { Handled } from './handled.ts';
import { splitToken } from './prefixed-token.ts';

type NotLive = Exclude<SessionLookup, { kind: 'live' }>;

/** Why a place is refused without its wallet being asked. */
export interface PlaceRefusal {
  readonly refusal: Handled;
  /** Whose bet the very same bytes could still become; undefined where they never can. */
  readonly owner: BetOwner | undefined;
}

/** A place whose token is not live. A profile may bring a prefixed one to life. */
export async function refusalForToken(
  callbacks: Callbacks,
  message: PlaceRequest,
  lookup: NotLive,
): Promise<PlaceRefusal> {
  const owner = await ownerOnceLive(callbacks, message, lookup);
  return { refusal: tokenRefused(lookup), owner };
}

/**
 * Answers with a refusal. One that may not hold for ever is on record before that: the service takes
 * it for final and never rolls back, so the same bytes must not be a bet later
 * (docs/money-safety.md).
 * @returns 'moved' when a copy of this place was faster: its answer is to be looked up
 * @throws OutOfTime, GatewayError when it cannot be put on record: answered 100, the service rolls back
 */
export async function refusedOnRecord(
  callbacks: Callbacks,
  message: PlaceRequest,
  raw: Buffer,
  deadline: Deadline,
  { refusal, owner }: PlaceRefusal,
): Promise<Handled | 'moved'> {
  if (owner === undefined) return refusal;
  const { transactionId, requestId } = message;
  const bet =
    (await callbacks.bets.find(transactionId)) ?? unseenBet(callbacks, transactionId, owner);
  if (decidePlace(bet, message).kind !== 'send') return 'moved';
  const { answer } = refusal;
  const attemptId = randomUUID();
  const record = { operation: 'place', attemptId, requestId, body: raw, answer } as const;
  const isWritten = await inTime(
    deadline.answerMs(),
    () => callbacks.bets.recordRefusal(bet, record, deadline),
    () => undefined,
  );
  return isWritten ? refusal : 'moved';
}

async function ownerOnceLive(
  { players }: Callbacks,
  { token, userId }: PlaceRequest,
  lookup: NotLive,
): Promise<BetOwner | undefined> {
  // By itself: its operator's file may be away for a while, or say `issued`, and be put right.
  const prefix = splitToken(token);
  // An issued session that is over stays so, and so does one that was ended.
  if (prefix === undefined || lookup.kind === 'ended') return undefined;
  if (lookup.kind === 'expired') return lookup.session.owner;
  // A player who is met only later gets another id than the one that this place names.
  const owner = await players.findByUserId(userId);
  return owner?.operatorId === prefix.operatorId ? owner : undefined;
}

/**
 * The refusal of this place with the token and `subPartnerId` that it carries, where one is on record. With
 * others it is another question, and the service's own to ask.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function refusalOnRecord(
  { bets }: Callbacks,
  bet: Bet,
  raw: Buffer,
): Promise<Answer | undefined> {
  const recorded = await bets.operationsOf(bet.transactionId);
  const asked = questionOf(raw);
  return recorded.find(({ operation, body }) => {
    if (operation !== 'place') return false;
    const before = questionOf(body);
    return before?.token === asked?.token && before?.subPartnerId === asked?.subPartnerId;
  })?.answer;
}

/** What decides on the refusal of a place as it is kept, where a hash stands for its token. */
function questionOf(body: Buffer): Pick<PlaceRequest, 'token' | 'subPartnerId'> | undefined {
  const parsed = parseBet('POST', body);
  return parsed.ok && parsed.message.operation === 'place' ? parsed.message : undefined;
}
