import type { Bet } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import type { Operation } from '../domain/operation.ts';
import type { NotSentReason } from '../domain/wallet-answer.ts';
import type { Wallet } from '../wallets/call.ts';
import type { Callbacks } from './callbacks.ts';
import { isOfOtherWallet } from './wallet-generation.ts';

/**
 * The wallet to which an operation on a bet may be sent now, or why none may. A removed operator counts as
 * being in maintenance, and so does one whose wallet has been replaced by another, which does not have
 * the bet.
 */
export function callableWallet(
  { wallets, configuration }: Callbacks,
  bet: Bet,
  operation: Operation,
  deadline: Deadline,
): { readonly wallet: Wallet } | { readonly refusal: NotSentReason } {
  const wallet = bet.owner && wallets.get(bet.owner.operatorId);
  if (wallet === undefined || isOfOtherWallet(configuration(), bet)) {
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
