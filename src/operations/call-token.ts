import type { Bet } from '../domain/bet.ts';
import { within } from '../lib/within.ts';
import { betToken } from '../sessions/bet-token.ts';
import type { Wallet } from '../wallets/call.ts';
import { carriesToken } from '../wallets/wallet-body.ts';
import type { BetCallback } from './bet-callback.ts';

/**
 * The token that the bet was placed with, if one goes with the call.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 * @throws OutOfTime where it is not read in the wallet's time
 */
export async function callToken(
  { callbacks, message, deadline }: Pick<BetCallback, 'callbacks' | 'message' | 'deadline'>,
  bet: Bet,
  wallet: Wallet,
): Promise<string | undefined> {
  if (!carriesToken(message.document, wallet.callerDialect.alwaysSendToken)) return undefined;
  return await within(deadline.walletMs(), betToken(callbacks.sessions, bet, message.token));
}
