/**
 * What a process opens beside its callers and what they make it open: Node's own files, two
 * listeners, its connections to PostgreSQL (47 at most) and a few to Redis, scrapes and probes,
 * configuration files while they are read.
 */
export const OWN_FILES = 150;

export interface OpenFiles {
  /** The most that this process may have open. */
  readonly max: number;
  /** The most connections that it makes for its callers: all bulkheads together. */
  readonly outward: number;
}

/**
 * The most callers that leave a file free for what each makes the gateway open: one connection to a
 * wallet or the bonus API, as long as the bulkheads let it.
 *
 * @returns below 1 where not even one fits
 */
export function callersThatFit({ max, outward }: OpenFiles): number {
  const left = max - OWN_FILES;
  return Math.max(left - outward, Math.floor(left / 2));
}
