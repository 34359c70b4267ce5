import type { Configuration, Delivery } from '../config/schema/schema.ts';
import type { BetOwner } from '../domain/bet.ts';
import { type BooksOf, GENERATION_UNKNOWN, isOfOtherWallet } from '../domain/generation.ts';
import type { NewDelivery } from '../store/bets/commit.ts';

// What an operator's file says about its operations, and what counts for an operator whose file is gone.

export type DeliverySettings = Readonly<Delivery>;

/** An operator's own delivery settings; the gateway's for an operator without a file. */
export function deliverySettings(
  { gateway, operators }: Configuration,
  operatorId: string,
): DeliverySettings {
  return operators.get(operatorId)?.delivery ?? gateway.delivery;
}

/** A delivery is retried this long before it becomes a dead letter. */
export function horizonMsOf({ horizonHours }: DeliverySettings): number {
  return horizonHours * 3_600_000;
}

export function newDelivery(
  configuration: Configuration,
  operatorId: string,
  promise: Omit<NewDelivery, 'horizonMs'>,
): NewDelivery {
  return { ...promise, horizonMs: horizonMsOf(deliverySettings(configuration, operatorId)) };
}

/** The `wallet.generation` of a bet placed now; 1 for an operator without a file, whose place is not sent. */
export function presentGeneration(configuration: Configuration, operatorId: string): number {
  return generationOf(configuration, operatorId) ?? 1;
}

/** The generation of a bet whose place was not seen or did not name its player. */
export function generationOfUnseen(configuration: Configuration, operatorId: string): number {
  return generationOf(configuration, operatorId) ?? GENERATION_UNKNOWN;
}

/** Whether another wallet than the configured one has the bet in its books. */
export function isInOtherBooks(
  configuration: Configuration,
  { owner, ...books }: BooksOf & { readonly owner: BetOwner | undefined },
): boolean {
  return isOfOtherWallet(owner && generationOf(configuration, owner.operatorId), books);
}

function generationOf({ operators }: Configuration, operatorId: string): number | undefined {
  return operators.get(operatorId)?.wallet.generation;
}
