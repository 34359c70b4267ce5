import type { Bet } from './bet.ts';

/*
 * An operator may replace its wallet by one with new books, and then raises `wallet.generation`. A bet belongs to
 * the generation that it was placed with: its operations are sent to no other wallet unless a person releases it to
 * that one (docs/money-safety.md).
 */

/**
 * The generation of a bet that was not placed through this journal and became known while its operator had no file. It
 * belongs to whichever wallet the file names when it is back.
 */
export const GENERATION_UNKNOWN = 0;

/** Bets of generations up to `released` were released to the wallet of generation `releasedTo`; 0 and 0: none were. */
export interface Released {
  readonly released: number;
  readonly releasedTo: number;
}

/** The generation of a bet, and what people have released of that operator's bets. */
export type BooksOf = Pick<Bet, 'generation' | 'released' | 'releasedTo'>;

/** For a bet whose generation has just been read from the configuration: a release changes nothing about it. */
export const UNRELEASED: Released = { released: 0, releasedTo: 0 };

/**
 * Whether bets of a generation are in the books of a newer wallet than the configured one, because a person has released
 * them to it. The configured wallet is not asked about them, even if they are of its own generation.
 */
export function isReleasedPast(
  generation: number,
  configured: number,
  { released, releasedTo }: Released,
): boolean {
  return releasedTo > configured && generation <= released;
}

/**
 * Whether a bet is in the books of another wallet than the one that is configured here: an older one
 * (`wallet.generation` has been raised since), or a newer one whose configuration this process has not read yet.
 * The configured wallet does not know such a bet. It is asked about it only after a release that names this wallet
 * and covers the later of the two generations: a release to one wallet says nothing about those that come after it.
 * In turn, a bet that was released to a newer wallet is in that wallet's books, even if its own generation is the
 * configured one.
 * @param configured undefined for an operator whose file is gone, or a bet without one
 */
export function isOfOtherWallet(
  configured: number | undefined,
  { generation, released, releasedTo }: BooksOf,
): boolean {
  if (configured === undefined) return false;
  const isReleasedHere = releasedTo === configured;
  return generation === configured || generation === GENERATION_UNKNOWN
    ? isReleasedPast(generation, configured, { released, releasedTo })
    : !isReleasedHere || Math.max(generation, configured) > released;
}
