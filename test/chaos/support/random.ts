import { Random as SeededRandom } from '../../../tools/torture/plan/random.ts';

/** Random numbers from a seed: the same seed gives the same run, as far as the machine's timing allows. */
export class Random extends SeededRandom {
  /** Decimal text with cents. */
  amount(maxCents: number): string {
    const cents = this.whole(1, maxCents);
    return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
  }
}
