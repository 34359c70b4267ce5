import { describe, expect, it } from 'vitest';
import { isOfOtherWallet, UNRELEASED } from '../../src/domain/generation.ts';

describe('the configured wallet.generation', () => {
  it('keeps a bet from a wallet in whose books it is not, the one before and the one after', () => {
    const of = (generation: number) => isOfOtherWallet(3, { generation, ...UNRELEASED });
    expect([of(2), of(3), of(4)]).toEqual([true, false, true]);
    // It became known while its operator had no file.
    expect(of(0)).toBe(false);
    // Its operator has no file, or it has no operator.
    expect(isOfOtherWallet(undefined, { generation: 2, ...UNRELEASED })).toBe(false);
  });

  it('lets a bet go to another wallet once the later of the two is released', () => {
    const of = (generation: number, released: number) =>
      isOfOtherWallet(3, { generation, released, releasedTo: 3 });
    expect([of(2, 2), of(2, 3), of(2, 9)]).toEqual([true, false, false]);
    expect([of(4, 3), of(4, 4), of(4, 9)]).toEqual([true, false, false]);
    expect(of(3, 2)).toBe(false);
  });

  it('keeps a bet from a wallet that came after the release, however high its number was (I4)', () => {
    const of = (generation: number, released: number, releasedTo: number) =>
      isOfOtherWallet(3, { generation, released, releasedTo });
    expect([of(1, 9, 1), of(2, 9, 2), of(1, 3, 2)]).toEqual([true, true, true]);
  });

  it('keeps a bet that was released to a newer wallet from every older one, its own included', () => {
    const of = (generation: number, released: number, releasedTo: number) =>
      isOfOtherWallet(3, { generation, released, releasedTo });
    expect([of(3, 4, 4), of(2, 4, 4), of(4, 4, 4)]).toEqual([true, true, true]);
    expect(of(3, 3, 4)).toBe(true);
    // Bets that were not released stay with their own wallet.
    expect(of(3, 2, 4)).toBe(false);
    // Released to this very wallet: it is the one to ask.
    expect([of(3, 3, 3), of(3, 9, 3)]).toEqual([false, false]);
    // Released to an older wallet after the number was lowered: the newer one's bets were placed after it was
    // raised again.
    expect(of(3, 3, 2)).toBe(false);
  });
});
