/**
 * Pieces of which each is made in a turn: several long answers are interleaved piece by piece, and a client that does
 * not read holds no turn.
 * @param take resolves when it is this one's turn, to the function that ends the turn
 * @param isLeft whether the reader has left: nothing is made for it any more. That its answer is destroyed is noticed
 *   only behind the piece whose turn it waits for, and hundreds of answers may wait
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
