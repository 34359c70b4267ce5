import { expect, it } from 'vitest';
import { pausesOf } from '../../src/books/duty.ts';

it('work that takes long twice in a row is done less often; one run that was held up changes nothing', () => {
  const pauseAfter = pausesOf(4_000, 1 / 20);
  const tookMs = [10, 60_000, 10, 1_000, 2_000, 1_500, 10];
  expect(tookMs.map(pauseAfter)).toEqual([4_000, 4_000, 4_000, 4_000, 20_000, 30_000, 4_000]);
});
