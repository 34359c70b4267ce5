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

/** The wallet for an operation on a bet. A removed operator, or a new wallet without the bet, counts as maintenance. */
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

/** A request about a bet: the service's message and the wallet's replacements for its members. */
export interface WalletRequest {
  readonly message: BetRequest;
  /** Used as `requestId` if the service sent none. */
  readonly attemptId: string;
  readonly owner: BetOwner;
  /** Which wallet has the bet in its books. */
  readonly books: BooksOf;
  readonly terms: BetTerms;
  /** Whether a wallet may have accepted a result of this bet; see `BetCall`. */
  readonly hadResult?: boolean;
}

/** What a request needs from the journal. */
export interface Companions {
  readonly operatorToken: string | undefined;
  /** For a cashout: the token of the session that requested it. */
  readonly cashoutToken?: string | undefined;
  /** For a wallet with `stableRequestId`: the request that this one repeats. */
  readonly first?: FirstRequest | undefined;
}

/**
 * Reads the token of the bet's place, if the wallet gets one, and the request that this one repeats.
 * @param of the operation itself if it is in the journal, otherwise the attempt that will write it
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
 * The attempt at an operation: the only way to its wallet, for a callback or a delivery.
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
 * Calls a bet's wallet at most once, but not one configured since the decision: its "nothing to roll back" would hide
 * what the right one holds. Check and call share a turn of the event loop. Never rejects.
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

/** For a call whose answer nobody waits for. */
function wholeTime({ clock, configuration }: Engine): Deadline {
  const { totalMs, reserveMs } = configuration().gateway.deadline;
  return new Deadline(clock, clock.monotonicMs(), totalMs, reserveMs);
}

/** What a rollback or update carries besides the ids instead of its own members, as raw JSON. */
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

/** For a call that was not made because PostgreSQL did not return its token or the request that it repeats. */
export const UNREAD = notSent('database', 'PostgreSQL did not give what goes with the call');
