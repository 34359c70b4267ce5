/**
 * Pieces of which each is made in a turn: several long answers are interleaved piece by piece, and a client that does
 * not read holds no turn.
 * @param take resolves when it is this one's turn, to the function that ends the turn
 */
export async function* inTurn<T>(
  take: () => Promise<() => void>,
  make: () => AsyncIterable<T>,
): AsyncGenerator<T> {
  let pieces: AsyncIterator<T> | undefined;
  try {
    for (;;) {
      const end = await take();
      let next: IteratorResult<T>;
      try {
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
