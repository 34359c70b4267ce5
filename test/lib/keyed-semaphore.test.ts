import { expect, it } from 'vitest';
import { KeyedSemaphore } from '../../src/lib/keyed-semaphore.ts';

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('lets this many work at a time, the others in their order, and each key by itself', async () => {
  const semaphore = new KeyedSemaphore(2);
  const began: string[] = [];
  const ends: (() => void)[] = [];
  const work = async (key: string, name: string) => {
    const end = await semaphore.take(key);
    began.push(name);
    ends.push(end);
  };
  for (const name of ['a1', 'a2', 'a3', 'a4']) void work('a', name);
  void work('b', 'b1');
  await settled();
  expect(began).toEqual(['a1', 'a2', 'b1']);
  ends[1]?.();
  await settled();
  expect(began.slice(3)).toEqual(['a3']);
  ends[0]?.();
  await settled();
  expect(began.slice(4)).toEqual(['a4']);
  expect(semaphore.keysKept).toBe(2);
  // All have finished: as many as at first may begin.
  for (const end of ends.slice(2)) end();
  expect(semaphore.keysKept).toBe(0);
  for (const name of ['a5', 'a6', 'a7']) void work('a', name);
  await settled();
  expect(began.slice(5)).toEqual(['a5', 'a6']);
});
