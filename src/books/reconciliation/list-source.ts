import { Incomparable } from './incomparable.ts';

/**
 * A list as its sender gives it. Whatever keeps it from being read to its end is a reason not to compare
 * it. An abort ends the reading at once: its sender may say nothing more for hours.
 * @throws Incomparable; the signal's reason after an abort
 */
export async function* listSource(
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  // It is not always waited for.
  aborted.catch(() => undefined);
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort);
  let hasBegun = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await Promise.race([source.next(), aborted]);
      if (next.done === true) return;
      hasBegun = true;
      yield next.value;
    }
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    throw new Incomparable(hasBegun ? `the list broke off: ${why}` : why, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
    letGo(source);
  }
}

/** Gives a source back that is read no further. Not waited for: it may be waiting for its sender. */
export function letGo(source: AsyncIterator<Buffer>): void {
  source.return?.().catch(() => undefined);
}
