import { expect, it } from 'vitest';
import { prepareForSlowNames } from '../../src/lib/thread-pool.ts';

it.each([
  [{}, '32'],
  [{ UV_THREADPOOL_SIZE: '64' }, '64'],
])('of %o this process has %s threads', (env, expected) => {
  prepareForSlowNames(env);
  expect(env).toMatchObject({ UV_THREADPOOL_SIZE: expected });
});

it.each([
  [{}, 'timeout:2 attempts:2'],
  [{ RES_OPTIONS: 'timeout:1' }, 'timeout:1'],
])('of %o a silent name server is asked by %s', (env, expected) => {
  prepareForSlowNames(env);
  expect(env).toMatchObject({ RES_OPTIONS: expected });
});
