/** Bets of generations up to `released` were released to the wallet of generation `releasedTo`; 0 and 0: none were. */
export interface Released {
  readonly released: number;
  readonly releasedTo: number;
}

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
