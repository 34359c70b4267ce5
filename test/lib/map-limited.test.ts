import { expect, it } from 'vitest';
import { mapLimited } from '../../src/lib/map-limited.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('maps this many at a time, and returns the results in the order of the items', async () => {
  let working = 0;
  let most = 0;
  const results = await mapLimited([5, 1, 4, 2, 3], 2, async (turns) => {
    working += 1;
    most = Math.max(most, working);
    for (let at = 0; at < turns; at += 1) await turn();
    working -= 1;
    return `after ${turns}`;
  });
  expect(results).toEqual(['after 5', 'after 1', 'after 4', 'after 2', 'after 3']);
  expect(most).toBe(2);
  expect(await mapLimited([], 2, async () => 'none')).toEqual([]);
});

it('starts nothing after one has failed: the caller has already been answered', async () => {
  const begun: number[] = [];
  const mapped = mapLimited([1, 2, 3, 4, 5, 6], 2, async (item) => {
    begun.push(item);
    await turn();
    if (item === 1) throw new Error('the first');
    return item;
  });
  await expect(mapped).rejects.toThrow('the first');
  for (let turns = 0; turns < 10; turns += 1) await turn();
  // The second had begun beside the first.
  expect(begun).toEqual([1, 2]);
});
