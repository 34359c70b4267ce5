import { expect, it } from 'vitest';
import { namesAtOnce, prepareForSlowNames } from '../../src/lib/thread-pool.ts';

it.each([
  [undefined, '32', 12],
  ['64', '64', 28],
  ['4', '4', 1],
  ['many', 'many', 1],
])(
  'UV_THREADPOOL_SIZE=%s makes it %s, of which wallets’ names may take %i',
  (given, size, names) => {
    const env = given === undefined ? {} : { UV_THREADPOOL_SIZE: given };
    prepareForSlowNames(env);
    expect(env).toMatchObject({ UV_THREADPOOL_SIZE: size });
    expect(namesAtOnce()).toBe(names);
  },
);

it.each([
  [{}, 'timeout:2 attempts:2'],
  [{ RES_OPTIONS: 'timeout:1' }, 'timeout:1'],
])('of %o a silent name server is asked by %s', (env, expected) => {
  prepareForSlowNames(env);
  expect(env).toMatchObject({ RES_OPTIONS: expected });
});
