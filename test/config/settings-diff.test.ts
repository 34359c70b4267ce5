import { expect, it } from 'vitest';
import { type ConfigurationDiff, diffOf, warningsOf } from '../../src/config/settings-diff.ts';

it('tells an operator that comes or goes, also one whose id every object has', () => {
  const none = { gateway: {}, operators: {} };
  const some = { gateway: {}, operators: { constructor: { name: 'Constructor Casino' } } };
  const kinds = ({ operators }: ConfigurationDiff) => operators.map(({ id, kind }) => [id, kind]);
  expect(kinds(diffOf(none, some))).toEqual([['constructor', 'added']]);
  const gone = diffOf(some, none);
  expect(kinds(gone)).toEqual([['constructor', 'removed']]);
  // What people have to know before it comes into force.
  expect(gone.operators.flatMap(warningsOf)).toHaveLength(1);
});

it.each([
  ['status', 'maintenance', /deliveries wait/],
  ['status', 'suspended', /can place no bets/],
  ['api.cid', 'another-key', /old api\.cid are refused/],
])('warns before %s becomes %s', (path, after, warning) => {
  const alpha = (setting: string) => ({ gateway: {}, operators: { alpha: { [path]: setting } } });
  const warnings = (before: string, next: string) =>
    diffOf(alpha(before), alpha(next)).operators.flatMap(warningsOf);
  expect(warnings('active', after)).toEqual([expect.stringMatching(warning)]);
  expect(warnings(after, after)).toEqual([]);
});
