/** So often a balance that is wrong is looked at again, a late repeat's delay apart. */
const LOOKS = 2;

export const FOLLOWS_LATE = 'the balance follows late';

/**
 * Whether the wallet's balance comes from a cache, or from a copy that lags. Found out once, at the first wrong
 * balance of a run: every case about money would otherwise blame what it is about.
 */
export class BalanceLag {
  #isLate: boolean | undefined;

  /**
   * @param isRight reads the balance again
   * @returns a remark on the wrong balance, or nothing
   */
  async remark(later: () => Promise<void>, isRight: () => Promise<boolean>): Promise<string> {
    this.#isLate ??= await this.#becomesRight(later, isRight);
    return this.#isLate ? ` (${FOLLOWS_LATE})` : '';
  }

  async #becomesRight(
    later: () => Promise<void>,
    isRight: () => Promise<boolean>,
  ): Promise<boolean> {
    for (let look = 0; look < LOOKS; look += 1) {
      await later();
      if (await isRight()) return true;
    }
    return false;
  }
}
