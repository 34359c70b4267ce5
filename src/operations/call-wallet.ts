import type { BetOwner } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import { type BetTerms, sentTerms } from '../domain/terms.ts';
import { type BetAnswer, notSent } from '../domain/wallet-answer.ts';
import { jsonString } from '../protocol/json.ts';
import type { BetRequest } from '../protocol/messages.ts';
import type { Wallet } from '../wallets/call.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import type { Engine } from './engine.ts';
import type { FirstRequest } from './first-request.ts';
import type { Sending } from './send-permit.ts';
import { type BooksOf, isOfOtherWallet } from './wallet-generation.ts';

/** One request about a bet: the service's message, and what its wallet gets in place of the service's own members. */
export interface WalletRequest {
  readonly message: BetRequest;
  /** Stands for a `requestId` that the service did not send. */
  readonly attemptId: string;
  readonly owner: BetOwner;
  /** Which wallet has the bet in its books. */
  readonly books: Omit<BooksOf, 'owner'>;
  /** The bet's stake and currency in the journal. */
  readonly terms: BetTerms;
  readonly operatorToken: string | undefined;
  /** For a cashout: the token of the session that asked for it. */
  readonly cashoutToken?: string | undefined;
  /** For a wallet with `stableRequestId`: the request that this one repeats. */
  readonly first?: FirstRequest | undefined;
  /** Whether a wallet has taken a result of this bet, or may have; see `BetCall`. */
  readonly hadResult?: boolean;
}

/**
 * Sends a request about a bet to its wallet, at most once, whether a callback or a delivery brings it. Nothing is sent if the
 * operator's wallet has been replaced since the attempt was decided on: the new one knows nothing of the bet, and its
 * "nothing to roll back" would hide what the right one holds.
 *
 * The wallet that is configured now is looked at, and the request handed to it, in the same turn of the event loop.
 * @returns never rejects
 */
export function callWallet(
  { configuration }: Pick<Engine, 'configuration'>,
  wallet: Wallet,
  request: WalletRequest,
  deadline: Deadline,
  { maySend }: Sending,
): Promise<BetAnswer> {
  const { message, attemptId, owner, books, terms, first, hadResult = false } = request;
  if (isOfOtherWallet(configuration(), { ...books, owner })) return Promise.resolve(OTHER_WALLET);
  const { operation, transactionId, document } = message;
  const { operatorToken, cashoutToken } = request;
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
    deadline,
    maySend,
    hadResult,
  });
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
