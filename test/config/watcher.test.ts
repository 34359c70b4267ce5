import { describe, expect, it, onTestFinished } from 'vitest';
import { Watcher } from '../../src/config/watcher.ts';

/**
 * A watcher that sees these changes, one per look. Resolves when it has seen them all, with the looks (from 1) at
 * which it applied them.
 */
function takenAt(looks: readonly string[], onChange = () => Promise.resolve()): Promise<number[]> {
  const taken: number[] = [];
  const errors: unknown[] = [];
  let look = 0;
  return new Promise((resolve) => {
    const watcher = new Watcher({
      changes: () => {
        const seen = looks[look];
        look += 1;
        if (seen === undefined) resolve(taken);
        return seen ?? '';
      },
      onChange: () => {
        taken.push(look);
        return onChange();
      },
      onError: (error) => errors.push(error),
      intervalMs: 1,
    });
    onTestFinished(() => watcher.close());
  });
}

describe('the watcher', () => {
  it('takes nothing over while nothing changed', async () => {
    expect(await takenAt(['', '', '', ''])).toEqual([]);
  });

  it('takes a change over once it looks the same twice', async () => {
    expect(await takenAt(['a', 'a', '', ''])).toEqual([2]);
  });

  it('takes no notice of a file that vanishes for a moment while an editor saves it', async () => {
    expect(await takenAt(['alpha.yaml gone', '', '', ''])).toEqual([]);
    expect(await takenAt(['alpha.yaml gone', 'alpha.yaml new', 'alpha.yaml new', ''])).toEqual([3]);
  });

  it('takes over what never comes to rest', async () => {
    expect(await takenAt(['a', 'b', 'c', 'd', 'e', 'f', ''])).toEqual([3, 6]);
  });

  it('goes on after a failure', async () => {
    const failing = () => Promise.reject(new Error('no reload'));
    expect(await takenAt(['a', 'a', 'b', 'b', ''], failing)).toEqual([2, 4]);
  });

  it('looks no more once closed', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let looks = 0;
    const watcher = new Watcher({
      changes: () => {
        looks += 1;
        watcher.close();
        setTimeout(resolve, 20);
        return '';
      },
      onChange: () => Promise.resolve(),
      onError: () => undefined,
      intervalMs: 1,
    });
    await promise;
    expect(looks).toBe(1);
  });
});
