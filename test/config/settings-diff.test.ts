import { expect, it } from 'vitest';
import {
  type ConfigurationDiff,
  changesBetween,
  diffOf,
  warningsOf,
} from '../../src/config/settings-diff.ts';
import { turnsDuring } from '../support/others-turns.ts';
import { load, operatorYaml } from './support/folder.ts';

it('tells an operator that comes or goes, also one whose id every object has', async () => {
  const none = { gateway: {}, operators: {} };
  const some = { gateway: {}, operators: { constructor: { name: 'Constructor Casino' } } };
  const kinds = ({ operators }: ConfigurationDiff) => operators.map(({ id, kind }) => [id, kind]);
  expect(kinds(await diffOf(none, some))).toEqual([['constructor', 'added']]);
  const gone = await diffOf(some, none);
  expect(kinds(gone)).toEqual([['constructor', 'removed']]);
  // What people must know before it comes into force.
  expect(gone.operators.flatMap(warningsOf)).toHaveLength(1);
});

it.each([
  ['status', 'maintenance', /deliveries wait/],
  ['status', 'suspended', /can place no bets/],
  ['api.cid', 'another-key', /old api\.cid are refused/],
])('warns before %s becomes %s', async (path, after, warning) => {
  const alpha = (setting: string) => ({ gateway: {}, operators: { alpha: { [path]: setting } } });
  const warnings = async (before: string, next: string) =>
    (await diffOf(alpha(before), alpha(next))).operators.flatMap(warningsOf);
  expect(await warnings('active', after)).toEqual([expect.stringMatching(warning)]);
  expect(await warnings(after, after)).toEqual([]);
});

const loaded = (ids: readonly string[]) =>
  load(Object.fromEntries(ids.map((id) => [`operators/${id}.yaml`, operatorYaml(id)])));

it('looks at those operators alone that a reload has changed (I7)', async () => {
  const before = loaded(['alpha', 'beta', 'gamma']);
  const beta = before.operators.get('beta');
  if (beta === undefined) throw new Error('beta is not in force');
  const looks: string[] = [];
  const watched = (id: string) => ({
    ...beta,
    id,
    get name() {
      looks.push(id);
      return id;
    },
  });
  const operators = new Map(['alpha', 'beta', 'gamma'].map((id) => [id, watched(id)]));
  const after = { ...before, operators: new Map([...operators, ['beta', { ...beta, name: 'B' }]]) };
  const { operators: changed } = await changesBetween({ ...before, operators }, after, 'a key');
  expect(changed).toEqual([
    { id: 'beta', kind: 'changed', settings: [{ path: 'name', before: 'beta', after: 'B' }] },
  ]);
  expect(looks).toEqual(['beta']);
});

it('compares hundreds of operators in slices, and callbacks have their turn (I7)', async () => {
  const before = loaded(Array.from({ length: 300 }, (_, at) => `operator-${at}`));
  const operators = [...before.operators].map(
    ([id, operator]) => [id, { ...operator, name: 'Other' }] as const,
  );
  const after = { ...before, operators: new Map(operators) };
  const turns = await turnsDuring(() => changesBetween(before, after, 'a key'));
  expect(turns).toBeGreaterThan(1);
});
