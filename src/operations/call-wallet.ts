import type { Bet, BetOwner } from '../domain/bet.ts';
import { Deadline } from '../domain/deadline.ts';
import type { BooksOf } from '../domain/generation.ts';
import type { Operation } from '../domain/operation.ts';
import { type BetTerms, sentTerms } from '../domain/terms.ts';
import { type BetAnswer, type NotSentReason, notSent } from '../domain/wallet-answer.ts';
import { jsonString } from '../protocol/json.ts';
import type { BetRequest } from '../protocol/messages.ts';
import { betToken } from '../sessions/bet-token.ts';
import type { TakenDelivery } from '../store/deliveries/claim-statements.ts';
import type { Wallet } from '../wallets/call.ts';
import { carriesToken, walletBody } from '../wallets/wallet-body.ts';
import type { Attempt, Sending } from './attempt.ts';
import type { Callbacks } from './callbacks.ts';
import type { Engine } from './engine.ts';
import { type FirstRequest, firstRequest } from './first-request.ts';
import { isInOtherBooks } from './operator-settings.ts';

/**
 * The wallet to which an operation on a bet may be sent now, or why none may. A removed operator counts as
 * being in maintenance, and so does one whose wallet has been replaced by another, which does not have
 * the bet.
 */
export function callableWallet(
  { wallets, configuration }: Pick<Callbacks, 'wallets' | 'configuration'>,
  bet: Bet,
  operation: Operation,
  deadline: Deadline,
): { readonly wallet: Wallet } | { readonly refusal: NotSentReason } {
  const wallet = bet.owner && wallets.get(bet.owner.operatorId);
  if (wallet === undefined || isInOtherBooks(configuration(), bet)) {
    return { refusal: 'maintenance' };
  }
  const refusal = refusalToSend(wallet, operation, deadline);
  return refusal === undefined ? { wallet } : { refusal };
}

/** Why a call made now would certainly not be sent; undefined if it may be. */
export function refusalToSend(
  wallet: Wallet,
  operation: Operation,
  deadline: Deadline,
): NotSentReason | undefined {
  return wallet.refusal(operation) ?? (deadline.allowsWalletCall() ? undefined : 'deadline');
}

/** One request about a bet: the service's message, and what its wallet gets in place of the service's own members. */
export interface WalletRequest {
  readonly message: BetRequest;
  /** Stands for a `requestId` that the service did not send. */
  readonly attemptId: string;
  readonly owner: BetOwner;
  /** Which wallet has the bet in its books. */
  readonly books: BooksOf;
  /** The bet's stake and currency in the journal. */
  readonly terms: BetTerms;
  /** Whether a wallet has taken a result of this bet, or may have; see `BetCall`. */
  readonly hadResult?: boolean;
}

/** What is read from the journal to go with a request. */
export interface Companions {
  readonly operatorToken: string | undefined;
  /** For a cashout: the token of the session that asked for it. */
  readonly cashoutToken?: string | undefined;
  /** For a wallet with `stableRequestId`: the request that this one repeats. */
  readonly first?: FirstRequest | undefined;
}

/**
 * Reads what goes with a request: the token that its bet was placed with, if the wallet gets one, and the request that
 * it repeats.
 * @param of the operation itself if it is in the journal, otherwise the attempt that is going to write it
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function companionsOf(
  { sessions, bets }: Engine,
  wallet: Wallet,
  message: BetRequest,
  bet: Pick<Bet, 'sessionId' | 'owner'> & Partial<Pick<TakenDelivery, 'sealedToken'>>,
  of: Parameters<typeof firstRequest>[2],
  cashoutToken: string | undefined,
): Promise<Companions> {
  const { alwaysSendToken, stableRequestId } = wallet.callerDialect;
  const first = stableRequestId ? await firstRequest(bets, message, of) : undefined;
  if (cashoutToken !== undefined || !carriesToken(message.document, alwaysSendToken)) {
    return { operatorToken: undefined, cashoutToken, first };
  }
  const operatorToken =
    bet.sealedToken === undefined
      ? await betToken(sessions, bet, message.token)
      : sessions.unseal(bet.sealedToken);
  return { operatorToken, first };
}

/**
 * The attempt at an operation: the one way to its wallet, for the caller of its callback or, as a delivery, for nobody.
 * @param deadline of the waiting caller; undefined for a delivery, whose call has the gateway's whole time
 * @param companions what goes with the request, or why it is not sent; must not reject
 */
export function attemptToCall(
  engine: Engine,
  wallet: Wallet,
  request: WalletRequest,
  deadline: Deadline | undefined,
  companions: () => Promise<Companions | BetAnswer>,
  conclude: Attempt['conclude'],
): Attempt {
  const { message, attemptId, owner } = request;
  return {
    transactionId: message.transactionId,
    attemptId,
    operatorId: owner.operatorId,
    operation: message.operation,
    deadline,
    call: async (sending) => {
      const found = await companions();
      if ('kind' in found) return found;
      return await callWallet(engine, wallet, request, found, deadline, sending);
    },
    conclude,
  };
}

/**
 * Sends a request about a bet to its wallet, at most once, whether a callback or a delivery brings it. Nothing is sent if the
 * operator's wallet has been replaced since the attempt was decided on: the new one knows nothing of the bet, and its
 * "nothing to roll back" would hide what the right one holds.
 *
 * The wallet that is configured now is looked at, and the request handed to it, in the same turn of the event loop.
 * @returns never rejects
 */
function callWallet(
  engine: Engine,
  wallet: Wallet,
  { message, attemptId, owner, books, terms, hadResult = false }: WalletRequest,
  { operatorToken, cashoutToken, first }: Companions,
  deadline: Deadline | undefined,
  { maySend }: Sending,
): Promise<BetAnswer> {
  if (isInOtherBooks(engine.configuration(), { ...books, owner }))
    return Promise.resolve(OTHER_WALLET);
  const { operation, transactionId, document } = message;
  const { operatorUser } = owner;
  const { alwaysSendToken } = wallet.callerDialect;
  const requestId = first?.requestId ?? message.requestId ?? attemptId;
  const replaced = replacedMembers(message, terms, requestId);
  const members = { operatorUser, operatorToken, cashoutToken, alwaysSendToken, first, replaced };
  return wallet.bet({
    operation,
    method: operation === 'place' ? 'POST' : 'PUT',
    body: walletBody(document, members),
    transactionId,
    requestId,
    deadline: deadline ?? wholeTime(engine),
    maySend,
    hadResult,
  });
}

/** The time of a call for which nobody waits. */
function wholeTime({ clock, configuration }: Engine): Deadline {
  const { totalMs, reserveMs } = configuration().gateway.deadline;
  return new Deadline(clock, clock.monotonicMs(), totalMs, reserveMs);
}

/** What a rollback or update carries besides the ids in place of its own members, as raw JSON. */
function replacedMembers(
  message: BetRequest,
  terms: BetTerms,
  requestId: string,
): Readonly<Record<string, string | undefined>> {
  if (message.operation !== 'rollback' && message.operation !== 'update') return {};
  const { amount, currency } = sentTerms(message.operation, terms, message);
  return {
    ...message.repairs,
    // Some wallets refuse a message without one.
    ...('requestId' in message.repairs ? { requestId: jsonString(requestId) } : {}),
    ...(amount === undefined ? {} : { amount }),
    ...(currency === undefined ? {} : { currency: jsonString(currency) }),
  };
}

const OTHER_WALLET = notSent('maintenance', 'the bet is in the books of another wallet');

/** For a call that was not made, because its token or the request that it repeats could not be read from PostgreSQL. */
export const UNREAD = notSent('database', 'PostgreSQL did not give what goes with the call');
