/** So often a balance that is wrong is looked at again, a late repeat's delay apart. */
const LOOKS = 2;

export const FOLLOWS_LATE = 'the balance follows late';

/** Whether the balance comes from a cache or a lagging copy: found out at the first wrong balance. */
export class BalanceLag {
  #isLate: boolean | undefined;

  /** @param isRight reads the balance again @returns a remark on the wrong balance, or nothing */
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
