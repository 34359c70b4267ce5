import { errorMessage } from '../../lib/faults.ts';
import { Incomparable } from './incomparable.ts';

/**
 * Passes a list's chunks on; an abort ends the reading at once, even while the sender is silent.
 * @throws Incomparable; the signal's reason after an abort
 */
export async function* listSource(
  chunks: AsyncIterable<Buffer>,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  // Nobody may be awaiting it when it rejects.
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
    const why = errorMessage(error);
    throw new Incomparable(hasBegun ? `the list broke off: ${why}` : why, { cause: error });
  } finally {
    signal.removeEventListener('abort', onAbort);
    letGo(source);
  }
}

/** Closes a source that is not read any further, without waiting: it may itself be waiting for its sender. */
export function letGo(source: AsyncIterator<Buffer>): void {
  source.return?.().catch(() => undefined);
}
