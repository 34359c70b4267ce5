/**
 * Files that a process opens besides those for callers: Node's own, two listeners, its connections
 * to PostgreSQL (48 at most) and a few to Redis, scrapes and probes, configuration files while
 * they are read.
 */
export const OWN_FILES = 150;

export interface OpenFiles {
  /** The most that this process may have open. */
  readonly max: number;
  /** The most connections that it makes for its callers: all bulkheads together. */
  readonly outward: number;
}

/**
 * The most callers for which enough files remain, since each caller may make the gateway open one
 * connection to a wallet or the bonus API, within the limits of the bulkheads.
 *
 * @returns below 1 if there is not even space for one
 */
export function callersThatFit({ max, outward }: OpenFiles): number {
  const left = max - OWN_FILES;
  return Math.max(left - outward, Math.floor(left / 2));
}
