import type { Configuration, Delivery } from '../config/schema.ts';
import type { Bet } from '../domain/bet.ts';

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
