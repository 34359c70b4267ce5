import type { Configuration, Delivery } from '../config/schema.ts';
import type { Bet } from '../domain/bet.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';

export type DeliverySettings = Readonly<Delivery>;

/** An operator's own delivery settings; the gateway's for one whose file is gone. */
export function deliverySettings(
  configuration: Configuration,
  operatorId: string,
): DeliverySettings {
  const { gateway, operators } = configuration;
  return operators.get(operatorId)?.delivery ?? gateway.delivery;
}

/**
 * Whether a bet is of an older `wallet.generation`, whose bets the operator's present wallet does
 * not have: it is never asked about such a bet until a person releases them.
 */
export function isOfOlderWallet(
  configuration: Configuration,
  bet: Pick<Bet, 'owner' | 'generation'>,
): boolean {
  if (bet.owner === undefined) return false;
  const operator = configuration.operators.get(bet.owner.operatorId);
  return operator !== undefined && bet.generation < operator.wallet.generation;
}

/**
 * Makes a call, unless the operator has come by another wallet since the attempt was decided on: the
 * new one holds nothing of the bet, and its "nothing to roll back" would hide what the old one holds.
 * @param call makes its request in the same turn, for the wallet that is configured then
 */
export async function askRightWallet(
  configuration: Configuration,
  bet: Pick<Bet, 'owner' | 'generation'>,
  call: () => Promise<BetAnswer>,
): Promise<BetAnswer> {
  return isOfOlderWallet(configuration, bet) ? OLDER_WALLET : await call();
}

const OLDER_WALLET: BetAnswer = {
  kind: 'notSent',
  reason: 'maintenance',
  trace: { sent: false, latencyMs: 0, error: 'the bet is in the books of an older wallet' },
};
