import { randomUUID } from 'node:crypto';
import type { Deadline } from '../domain/deadline.ts';
import { isOfOtherCurrency, missingInBalance } from '../domain/read-repairs.ts';
import { jsonString } from '../protocol/json.ts';
import type { BalanceRequest } from '../protocol/messages.ts';
import { walletBody } from '../wallets/wallet-body.ts';
import {
  detailOf,
  type Handled,
  mismatchRefused,
  readOutcome,
  tokenRefused,
  withoutWallet,
} from './answers.ts';
import type { Callbacks } from './callbacks.ts';

/** The most frequent call by far. @throws GatewayError, OutOfTime if the session could not be read */
export async function balance(
  callbacks: Callbacks,
  message: BalanceRequest,
  deadline: Deadline,
): Promise<Handled> {
  const limited = callbacks.refusedReads.limit('balance', message.token);
  if (limited !== undefined) return limited;
  const lookup = await callbacks.sessions.find(message.token);
  const mismatch = lookup.kind === 'unknown' ? undefined : mismatchRefused(message, lookup.session);
  if (mismatch !== undefined) return mismatch;
  if (lookup.kind !== 'live') return tokenRefused(lookup);
  const { owner, operatorToken, currency } = lookup.session;
  const { operatorId, operatorUser } = owner;
  callbacks.refusedReads.note('balance', message.token, operatorId);
  const wallet = callbacks.wallets.get(operatorId);
  if (wallet === undefined) return withoutWallet(callbacks, operatorId);

  const answer = await wallet.read({
    operation: 'balance',
    body: walletBody(message.document, { operatorUser, operatorToken }),
    requestId: message.requestId ?? randomUUID(),
    deadline,
    whyBroken: ({ value }) =>
      isOfOtherCurrency(value, currency) ? 'its currency is not the one requested' : undefined,
  });
  if (answer.kind !== 'answered') return readOutcome(operatorId, answer);
  const { document } = answer;
  const missing = missingInBalance(document.value);
  callbacks.repairedAnswers.note(operatorId, missing);
  // The wallet's own answer, with the aggregator's id instead of the wallet's.
  const body = document.replace({
    userId: jsonString(owner.userId),
    ...(missing.includes('currency') ? { currency: jsonString(currency) } : {}),
  });
  return {
    answer: { status: 200, body },
    outcome: 'accepted',
    operatorId,
    detail: detailOf(answer),
  };
}
