import type { Bet } from './bet.ts';

/*
 * A wallet with new books has a higher `wallet.generation`. A bet's operations go only to the wallet of its own
 * generation, or one that a person releases it to (docs/money-safety.md).
 */

/** The bet first appeared while its operator had no file. It belongs to the first wallet that the file names again. */
export const GENERATION_UNKNOWN = 0;

/** Bets of generations up to `released` were released to the wallet of generation `releasedTo`; 0 and 0: none were. */
export interface Released {
  readonly released: number;
  readonly releasedTo: number;
}

/** A bet's generation, and the releases of its operator's bets. */
export type BooksOf = Pick<Bet, 'generation' | 'released' | 'releasedTo'>;

/** For a bet whose generation was just read from the configuration: no release applies. */
export const UNRELEASED: Released = { released: 0, releasedTo: 0 };

/** Whether a person has released these bets to a newer wallet: the configured one is not called, even for its own. */
export function isReleasedPast(
  generation: number,
  configured: number,
  { released, releasedTo }: Released,
): boolean {
  return releasedTo > configured && generation <= released;
}

/**
 * Whether a bet is in the books of another wallet, older or not yet configured here. The configured one is called only
 * if a release names it and covers both generations: a release to one wallet does not extend to later ones.
 * @param configured undefined for an operator without a file, or a bet without an operator
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
