import type { Bet } from '../domain/bet.ts';
import type { Deadline } from '../domain/deadline.ts';
import type { Operation } from '../domain/operation.ts';
import type { NotSentReason } from '../domain/wallet-answer.ts';
import { isOfOtherWallet } from '../engine/wallet-generation.ts';
import type { Wallet } from '../wallets/call.ts';
import type { Callbacks } from './context.ts';

/**
 * The wallet that may be asked about a bet now, or why none is. A removed operator is treated as one
 * in maintenance, and so is one whose wallet has been replaced since by another, which does not hold
 * the bet.
 */
export function askableWallet(
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

/** Why a call made now would not be sent at all, as far as that is known without trying. */
export function refusalToSend(
  wallet: Wallet,
  operation: Operation,
  deadline: Deadline,
): NotSentReason | undefined {
  return wallet.refusal(operation) ?? (deadline.allowsWalletCall() ? undefined : 'deadline');
}
