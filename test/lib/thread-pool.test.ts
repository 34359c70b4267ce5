import { expect, it } from 'vitest';
import { namesAtOnce, widenThreadPool } from '../../src/lib/thread-pool.ts';

it.each([
  [undefined, '32', 12],
  ['64', '64', 28],
  ['4', '4', 1],
  ['many', 'many', 1],
])(
  'UV_THREADPOOL_SIZE=%s makes it %s, of which wallets’ names may take %i',
  (given, size, names) => {
    const env = given === undefined ? {} : { UV_THREADPOOL_SIZE: given };
    widenThreadPool(env);
    expect(env).toEqual({ UV_THREADPOOL_SIZE: size });
    expect(namesAtOnce()).toBe(names);
  },
);
