/**
 * Milliseconds until the next attempt. Full jitter keeps a wallet that returns from getting everything at once.
 * @param attempts attempts made so far, at least 1
 * @param random a number in [0, 1)
 */
export function backoffMs(
  attempts: number,
  limits: { readonly minBackoffMs: number; readonly maxBackoffMs: number },
  random: number,
): number {
  const ceilingMs = Math.min(
    limits.maxBackoffMs,
    limits.minBackoffMs * 2 ** Math.min(attempts, 40),
  );
  return Math.max(limits.minBackoffMs, Math.round(random * ceilingMs));
}
