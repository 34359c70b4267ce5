import { describe, expect, it } from 'vitest';
import { LAYOUTS } from '../../../tools/torture/plan/plan.ts';
import { Dealer } from '../../../tools/torture/run/lane.ts';

const dealt = (dealer: Dealer, lane: number) => [...dealer.seedsOf(lane)];

describe('the dealer of seeds', () => {
  it.each([1, 2, 4, 8])('deals every seed once, whichever lane asks, to %d lanes', (jobs) => {
    const dealer = new Dealer(7, 30, jobs);
    const seeds = Array.from({ length: jobs }, (_, lane) => dealt(dealer, lane)).flat();
    expect(seeds.sort((one, other) => one - other)).toEqual(
      Array.from({ length: 30 }, (_, n) => 7 + n),
    );
  });

  it('gives a lane seeds of only one layout if there are enough lanes', () => {
    const dealer = new Dealer(90_001, 40, 4);
    for (const lane of [0, 1, 2, 3]) {
      const layouts = new Set(dealt(dealer, lane).map((seed) => seed % LAYOUTS.length));
      expect([...layouts]).toEqual([lane]);
    }
  });

  it('lets lanes of one layout help each other: what one does not take the other does', () => {
    const dealer = new Dealer(1, 16, 8);
    const one = dealer.seedsOf(1);
    expect(one.next().value).toBe(1);
    expect(dealt(dealer, 5)).toEqual([5, 9, 13]);
    expect(one.next().done).toBe(true);
  });
});
