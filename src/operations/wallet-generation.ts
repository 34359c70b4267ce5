import type { Configuration } from '../config/schema/schema.ts';
import type { Bet } from '../domain/bet.ts';
import { isReleasedPast } from '../domain/released.ts';

/*
 * An operator may replace its wallet by one with new books, and then raises `wallet.generation`. A bet belongs to
 * the generation that it was placed with: its operations are sent to no other wallet unless a person releases it to
 * that one (docs/money-safety.md).
 */

/**
 * Of a bet that was not placed through this journal and became known while its operator had no file: it is in the books
 * of whichever wallet the file names when it is back. With the number of any other wallet, nobody would be asked.
 */
const NOT_KNOWN = 0;

/** The `wallet.generation` of a bet placed now; 1 for an operator whose file is gone, whose place is not sent. */
export function presentGeneration(configuration: Configuration, operatorId: string): number {
  return configuration.operators.get(operatorId)?.wallet.generation ?? 1;
}

/** The generation of a bet whose place was not seen, or did not name its player. */
export function generationOfUnseen(configuration: Configuration, operatorId: string): number {
  return configuration.operators.get(operatorId)?.wallet.generation ?? NOT_KNOWN;
}

/** The bet, with the present generation if its own was not known. */
export function withGeneration(configuration: () => Configuration, bet: Bet): Bet {
  if (bet.generation !== NOT_KNOWN || bet.owner === undefined) return bet;
  return { ...bet, generation: generationOfUnseen(configuration(), bet.owner.operatorId) };
}

/** The generation of a bet, and what people have released of that operator's bets. */
export type BooksOf = Pick<Bet, 'owner' | 'generation' | 'released' | 'releasedTo'>;

/** For a bet whose generation has just been read from the configuration: a release changes nothing about it. */
export const UNRELEASED = { released: 0, releasedTo: 0 } as const;

/**
 * Whether a bet is in the books of another wallet than the one that is configured here: an older one
 * (`wallet.generation` has been raised since), or a newer one whose configuration this process has not read yet.
 * The configured wallet does not know such a bet. It is asked about it only after a release that names this wallet
 * and covers the later of the two generations: a release to one wallet says nothing about those that come after it.
 * In turn, a bet that was released to a newer wallet is in that wallet's books, even if its own generation is the
 * configured one.
 */
export function isOfOtherWallet(
  configuration: Configuration,
  { owner, generation, released, releasedTo }: BooksOf,
): boolean {
  const operator = owner && configuration.operators.get(owner.operatorId);
  if (operator === undefined) return false;
  const configured = operator.wallet.generation;
  const isReleasedHere = releasedTo === configured;
  return generation === configured || generation === NOT_KNOWN
    ? isReleasedPast(generation, configured, { released, releasedTo })
    : !isReleasedHere || Math.max(generation, configured) > released;
}
