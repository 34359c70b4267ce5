import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { readOptions } from '../../../tools/torture/run/options.ts';

it('takes folders of releases relative to where it was started, not to where a gateway runs', () => {
  const { source, beside } = readOptions(['--source', 'old', '--beside', '../other/new']);
  expect([source, beside]).toEqual([resolve('old'), resolve('../other/new')]);
  expect(readOptions([])).toMatchObject({ source: process.cwd(), beside: undefined });
});
