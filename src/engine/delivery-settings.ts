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

/** How long a promise is tried to be kept before it is a dead letter, in milliseconds. */
export function horizonMsOf({ horizonHours }: DeliverySettings): number {
  return horizonHours * 3_600_000;
}

/** The `wallet.generation` whose books a bet enters now; 1 for an operator whose file is gone. */
export function presentGeneration(configuration: Configuration, operatorId: string): number {
  return configuration.operators.get(operatorId)?.wallet.generation ?? 1;
}

/** Whose books a bet is in, and what a person has said of those. */
export type BooksOf = Pick<Bet, 'owner' | 'generation' | 'released' | 'releasedTo'>;

/** For a bet whose generation is the one that was configured a moment ago. */
export const UNRELEASED = { released: 0, releasedTo: 0 } as const;

/**
 * Whether a bet is in the books of another wallet than the one that is configured here: of an older
 * one (`wallet.generation` was raised since), or of a newer one, which this process has not read of
 * yet. The configured wallet does not have such a bet, and is never asked about it until a person
 * releases the later of the two generations to it: what is said of one wallet is not said of those that come after,
 * however high the number. What was released to a newer wallet than the configured one is in
 * that one's books: this process has not read of it yet, even if the bet is of its own generation.
 */
export function isOfOtherWallet(
  configuration: Configuration,
  { owner, generation, released, releasedTo }: BooksOf,
): boolean {
  const operator = owner && configuration.operators.get(owner.operatorId);
  if (operator === undefined) return false;
  const configured = operator.wallet.generation;
  const isReleasedToNewer = releasedTo > configured;
  // 0: released by an earlier release of the gateway, to the generation that was named.
  const isReleasedHere = (releasedTo || released) === configured;
  return generation === configured
    ? isReleasedToNewer && generation <= released
    : !isReleasedHere || Math.max(generation, configured) > released;
}

/**
 * Makes a call, unless the operator has come by another wallet since the attempt was decided on: that
 * one holds nothing of the bet, and its "nothing to roll back" would hide what the right one holds.
 * @param call makes its request in the same turn, for the wallet that is configured then
 */
export async function askRightWallet(
  configuration: Configuration,
  bet: BooksOf,
  call: () => Promise<BetAnswer>,
): Promise<BetAnswer> {
  return isOfOtherWallet(configuration, bet) ? OTHER_WALLET : await call();
}

const OTHER_WALLET: BetAnswer = {
  kind: 'notSent',
  reason: 'maintenance',
  trace: { sent: false, latencyMs: 0, error: 'the bet is in the books of another wallet' },
};
