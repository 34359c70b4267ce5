import { expect, it } from 'vitest';
import { inTurn } from '../../src/lib/in-turn.ts';

/** Takes a turn, and counts those that are held. */
function turns() {
  let held = 0;
  const take = async () => {
    held += 1;
    return () => {
      held -= 1;
    };
  };
  return { take, held: () => held };
}

it('holds a turn while a piece is made, and none while nobody reads on', async () => {
  const { take, held } = turns();
  const during: number[] = [];
  const make = async function* () {
    for (const piece of ['a', 'b']) {
      during.push(held());
      yield piece;
    }
  };
  const pieces = inTurn(take, make, () => false);
  const read: string[] = [];
  for await (const piece of pieces) {
    expect(held()).toBe(0);
    read.push(piece);
  }
  expect([read, during, held()]).toEqual([['a', 'b'], [1, 1], 0]);
});

it('ends its source with a reader that leaves, and its turn with a source that fails', async () => {
  const { take, held } = turns();
  let isEnded = false;
  const make = async function* () {
    try {
      yield* [1, 2];
    } finally {
      isEnded = true;
    }
  };
  for await (const piece of inTurn(take, make, () => false)) {
    expect(piece).toBe(1);
    break;
  }
  expect(isEnded).toBe(true);
  const fail = async function* () {
    yield 1;
    throw new Error('PostgreSQL is gone');
  };
  const failing = inTurn(take, fail, () => false);
  await failing.next();
  await expect(failing.next()).rejects.toThrow('PostgreSQL is gone');
  expect(held()).toBe(0);
});
