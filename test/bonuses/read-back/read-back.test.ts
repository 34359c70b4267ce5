import { expect, it, onTestFinished, vi } from 'vitest';
import { BonusReadBack } from '../../../src/bonuses/read-back/read-back.ts';
import type { ReadingBack } from '../../../src/bonuses/read-back/reader.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

it('says ten times that a search fails, and not each second for as long as it does', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const warn = vi.fn();
  const away = () => {
    throw new Error('away');
  };
  const readBack = new BonusReadBack(
    partly<ReadingBack>({
      accounts: { all: away, kept: away, sharing: away },
      clock: new TestClock(),
      logger: { warn },
    }),
  );
  readBack.start();
  await vi.advanceTimersByTimeAsync(60_000);
  await readBack.close();
  const failed = warn.mock.calls.map(([{ duty }]) => duty);
  expect(failed.filter((duty) => duty === 'templates')).toHaveLength(10);
  expect(failed.filter((duty) => duty === 'grants')).toHaveLength(10);
});
