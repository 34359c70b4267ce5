import { randomUUID } from 'node:crypto';
import type { Configuration } from '../config/schema/schema.ts';
import type { BetOwner } from '../domain/bet.ts';
import { CODES } from '../domain/codes.ts';
import type { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import { OPERATOR_USER } from '../domain/operator-user.ts';
import { oddInProfile } from '../domain/read-repairs.ts';
import { type JsonDocument, jsonString } from '../protocol/json.ts';
import type { ProfileRequest } from '../protocol/messages.ts';
import {
  type PrefixedToken,
  type Session,
  type SessionLookup,
  splitToken,
} from '../sessions/session.ts';
import type { ReadAnswer } from '../wallets/call.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import {
  detailOf,
  type Handled,
  mismatchRefused,
  readOutcome,
  refused,
  tokenRefused,
  unavailable,
  withoutWallet,
} from './answers.ts';
import type { Callbacks } from './callbacks.ts';

/** A currency that the protocol allows (service protocol, User profile) and PostgreSQL can store. */
const CURRENCY = /^[^\s\p{Cc}\p{Cs}]{3,5}$/u;

/** What is known of the player before the wallet answers. */
interface Subject {
  readonly operatorId: string;
  readonly operatorToken: string;
  /** Undefined for a prefixed token that no wallet has confirmed, or whose stored copy cannot be decrypted. */
  readonly session: Session | undefined;
  /** Whether it is a prefixed session, which a profile opens and renews, and not an issued one. */
  readonly prefixed: boolean;
}

/**
 * A player's profile from the wallet, with the aggregator's ids. A prefixed session's player first appears here.
 * @throws GatewayError, OutOfTime if the session could not be read
 */
export async function profile(
  callbacks: Callbacks,
  message: ProfileRequest,
  deadline: Deadline,
): Promise<Handled> {
  const limited = callbacks.refusedReads.limit('profile', message.token);
  if (limited !== undefined) return limited;
  const found = await findSubject(callbacks, message);
  if ('answer' in found) return found;
  const { operatorId, session } = found;
  callbacks.refusedReads.note('profile', message.token, operatorId);
  const wallet = callbacks.wallets.get(operatorId);
  if (wallet === undefined) return withoutWallet(callbacks, operatorId);
  const answer = await wallet.read({
    operation: 'profile',
    body: walletBody(message.document, {
      operatorUser: operatorUserFor(message, session),
      operatorToken: found.operatorToken,
    }),
    requestId: message.requestId ?? randomUUID(),
    deadline,
    whyBroken: (document) => {
      const read = namedIn(document, session);
      if (!('fault' in read)) return undefined;
      noteBroken(callbacks, operatorId, read.fault);
      return read.fault;
    },
  });
  if (answer.kind !== 'answered') return readOutcome(operatorId, answer);

  const { document } = answer;
  const named = namedIn(document, session);
  // The wallet client lets none through that `whyBroken` rejects.
  if ('fault' in named) return brokenAnswer(operatorId, answer);
  const { operatorUser, currency } = named;
  const foreign = await currencyRefused(callbacks, message.token, found, currency);
  if (foreign !== undefined) return foreign;
  const owner = found.prefixed
    ? await learn(callbacks, message.token, found, operatorUser, currency)
    : session?.owner;
  if (owner === undefined) {
    noteBroken(callbacks, operatorId, 'its token is of another player or currency');
    return brokenAnswer(operatorId, answer);
  }
  const mismatch = mismatchRefused(message, { owner, currency });
  if (mismatch !== undefined) return mismatch;
  return {
    answer: { status: 200, body: translated(callbacks, document, owner, currency) },
    outcome: 'accepted',
    operatorId,
    detail: detailOf(answer),
  };
}

/** The player and currency in a wallet's profile, or its fault. */
function namedIn(
  { value }: JsonDocument,
  session: Session | undefined,
): { readonly operatorUser: string; readonly currency: string } | { readonly fault: string } {
  const { userId: operatorUser, currency } = value;
  if (typeof operatorUser !== 'string') return { fault: 'has no userId that is a string' };
  if (typeof currency !== 'string') return { fault: 'has no currency that is a string' };
  if (!OPERATOR_USER.test(operatorUser)) {
    return { fault: 'its userId is not 1 to 64 characters of A-Za-z0-9._~-' };
  }
  if (session === undefined && !CURRENCY.test(currency)) {
    return { fault: 'its currency is not 3 to 5 characters' };
  }
  if (session !== undefined && session.owner.operatorUser !== operatorUser) {
    return { fault: "its userId is not that of the session's player" };
  }
  return { operatorUser, currency };
}

function noteBroken({ logger }: Callbacks, operatorId: string, note: string): void {
  logger.warn({ operator: operatorId, note }, 'profile.broken_answer');
}

/** The currency is not that of the session, or not in the operator's file. */
async function currencyRefused(
  callbacks: Callbacks,
  token: string,
  { operatorId, session }: Subject,
  currency: string,
): Promise<Handled | undefined> {
  if (session !== undefined && session.currency !== currency) {
    await callbacks.sessions.endForCurrency(token, session);
    return refused(CODES.expiredToken, 'Token out of date', operatorId, 'declined');
  }
  const operator = callbacks.configuration().operators.get(operatorId);
  if (operator === undefined || operator.currencies.includes(currency)) return undefined;
  return refused(CODES.validation, "currency: is not one of the operator's", operatorId);
}

/** The wallet's profile cannot be used; the service requests it again. */
function brokenAnswer(operatorId: string, answer: ReadAnswer): Handled {
  return unavailable('error', operatorId, { ...detailOf(answer), reason: 'bad_answer' });
}

/** The wallet's id for the `userId` in the message, if it has one. */
function operatorUserFor(
  message: ProfileRequest,
  session: Session | undefined,
): string | undefined {
  return message.userId === undefined ? undefined : session?.owner.operatorUser;
}

async function findSubject(
  callbacks: Callbacks,
  message: ProfileRequest,
): Promise<Subject | Handled> {
  const { token } = message;
  const prefix = prefixOf(callbacks.configuration(), token);
  const lookup = await findSession(callbacks, token, prefix !== undefined);
  const mismatch = lookup.kind === 'unknown' ? undefined : mismatchRefused(message, lookup.session);
  if (mismatch !== undefined) return mismatch;
  if (lookup.kind === 'live') {
    const { session } = lookup;
    return {
      operatorId: session.owner.operatorId,
      operatorToken: session.operatorToken,
      session,
      prefixed: prefix !== undefined,
    };
  }
  // A successful profile opens a prefixed session, or renews an expired one.
  if (prefix !== undefined && lookup.kind !== 'ended') {
    return {
      ...prefix,
      session: lookup.kind === 'expired' ? lookup.session : undefined,
      prefixed: true,
    };
  }
  const ofInvalid = invalidOperatorOf(callbacks.configuration(), token);
  return ofInvalid === undefined || lookup.kind === 'ended'
    ? tokenRefused(lookup)
    : withoutWallet(callbacks, ofInvalid);
}

/** A prefixed token contains the wallet's: without a readable stored copy, the wallet is called as for a new one. */
async function findSession(
  { sessions }: Callbacks,
  token: string,
  isPrefixed: boolean,
): Promise<SessionLookup> {
  try {
    return await sessions.find(token);
  } catch (error) {
    const isSealed = error instanceof GatewayError && error.code === 'TOKEN_UNOPENABLE';
    if (isPrefixed && isSealed) return { kind: 'unknown' };
    throw error;
  }
}

/** Opens or renews the session that the wallet has confirmed. @returns undefined if its answer cannot open one */
async function learn(
  callbacks: Callbacks,
  token: string,
  subject: Subject,
  operatorUser: string,
  currency: string,
): Promise<BetOwner | undefined> {
  const { operatorId, operatorToken, session } = subject;
  const ttlSeconds = callbacks.configuration().operators.get(operatorId)?.sessions.ttlSeconds;
  if (ttlSeconds === undefined) return session?.owner;
  try {
    const owner = await callbacks.players.ensure(operatorId, operatorUser);
    const asked = { owner, currency, operatorToken, ttlSeconds };
    const learnt = await callbacks.sessions.learn(token, asked);
    return learnt?.owner;
  } catch (error) {
    // While PostgreSQL is down, a live session is used but not renewed.
    if (session === undefined || !(error instanceof GatewayError)) throw error;
    callbacks.logger.warn({ err: error, operator: operatorId }, 'session.not_renewed');
    return session.owner;
  }
}

/** The repaired profile, with the aggregator's `userId` and the operator's in `customFields`. */
function translated(
  { repairedAnswers }: Callbacks,
  document: JsonDocument,
  owner: BetOwner,
  currency: string,
): string {
  const odd = oddInProfile(document.value);
  repairedAnswers.note(owner.operatorId, odd);
  const operatorUser = jsonString(owner.operatorUser);
  return document.replace({
    userId: jsonString(owner.userId),
    customFields:
      document.object('customFields')?.replace({ operatorUser }) ??
      `{"operatorUser":${operatorUser}}`,
    ...(odd.includes('currencies') ? { currencies: `[${jsonString(currency)}]` } : {}),
    ...(odd.includes('isTest') ? { isTest: undefined } : {}),
  });
}

/** A token of an operator with prefixed sessions (docs/reference.md, Operator API); undefined for any other. */
function prefixOf(configuration: Configuration, token: string): PrefixedToken | undefined {
  const split = splitToken(token);
  const operator = split && configuration.operators.get(split.operatorId);
  return operator?.sessions.mode === 'prefixed' ? split : undefined;
}

/** The operator in a token's prefix if its file is invalid: it is unknown whether its sessions are prefixed. */
function invalidOperatorOf({ invalidOperators }: Configuration, token: string): string | undefined {
  const operatorId = splitToken(token)?.operatorId;
  return operatorId !== undefined && invalidOperators.has(operatorId) ? operatorId : undefined;
}
