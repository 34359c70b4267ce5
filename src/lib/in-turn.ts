/**
 * Pieces made in turns: long answers are interleaved, and a client that does not read holds no turn.
 * @param take resolves at its turn to the function that ends it
 * @param isLeft whether the reader has left: nothing is made for it any more
 */
export async function* inTurn<T>(
  take: () => Promise<() => void>,
  make: () => AsyncIterable<T>,
  isLeft: () => boolean,
): AsyncGenerator<T> {
  let pieces: AsyncIterator<T> | undefined;
  try {
    for (;;) {
      const end = await take();
      let next: IteratorResult<T>;
      try {
        if (isLeft()) return;
        pieces ??= make()[Symbol.asyncIterator]();
        next = await pieces.next();
      } finally {
        end();
      }
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await pieces?.return?.();
  }
}
