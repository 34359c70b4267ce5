import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadConfiguration } from '../../src/config/loader.ts';
import { ConfigError } from '../../src/config/problems.ts';
import { folderWith, GATEWAY, operatorYaml, put } from '../config/support/folder.ts';
import { within } from './support/cost.ts';
import { effort } from './support/effort.ts';
import { mutated } from './support/mutations.ts';

/** The folder is read on the thread that answers callbacks. */
const READ_MS_MAX = 500;

const ALPHA = operatorYaml(
  'alpha',
  'sessions: { mode: issued, ttlSeconds: 3600 }\nbonuses: { enabled: true, sharedTemplates: [1] }',
  '  breaker: { errorPercent: 50, openMs: 5000 }\n  dialect: { mapCodes: { place: { 9: 8 } } }',
);
const WORDS = [
  '${HOME}',
  '${',
  '${file:/etc/passwd}',
  '&a',
  '*a',
  '!!js',
  '---',
  '- ',
  '? ',
  '<<:',
];
const ODD: readonly unknown[] = [
  ...[null, true, '', 'x', -1, 0, 1.5, 1e30, Number.NaN, Number.POSITIVE_INFINITY],
  ...[[], {}, [[]], [null], { x: 1 }, 'x'.repeat(5_000), '\0', '\ud800', '1970-01-01', '0x10'],
];

/** The lines that refuse the folder; undefined if it comes into force. */
function refusal(folder: string): readonly string[] | undefined {
  return within(READ_MS_MAX, () => {
    try {
      loadConfiguration(folder, {});
      return undefined;
    } catch (error) {
      if (error instanceof ConfigError) return error.message.split('\n');
      throw error;
    }
  });
}

describe('a configuration file', () => {
  const files = [
    ['gateway.yaml', GATEWAY],
    ['operators/alpha.yaml', ALPHA],
  ] as const;

  it.each(files)('%s is in force or refused by its name, whatever its bytes are', (name, good) => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': ALPHA });
    fc.assert(
      fc.property(mutated([good], WORDS), (bytes) => {
        put(folder, name, bytes);
        expect(refusal(folder)?.filter((line) => !line.startsWith(`${name}: `)) ?? []).toEqual([]);
      }),
      effort(120),
    );
  });

  it.each(files)('%s names the odd setting by its path', (name, good) => {
    const folder = folderWith({ 'gateway.yaml': GATEWAY, 'operators/alpha.yaml': ALPHA });
    const tree: unknown = parse(good);
    const change = fc.tuple(fc.constantFrom(...pathsOf(tree)), fc.constantFrom(...ODD));
    fc.assert(
      fc.property(change, ([path, odd]) => {
        put(folder, name, stringify(withValue(tree, path, odd)));
        for (const line of refusal(folder) ?? []) {
          expect(line).toMatch(/^(gateway|operators\/alpha)\.yaml: /);
          if (typeof odd !== 'object') expect(line).toContain(path[0]);
        }
      }),
      effort(100),
    );
  });
});

type Path = readonly string[];

function pathsOf(value: unknown, above: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [above];
  const below = Object.entries(value).flatMap(([name, one]) => pathsOf(one, [...above, name]));
  return above.length === 0 ? below : [above, ...below];
}

function withValue(value: unknown, [name, ...rest]: Path, odd: unknown): unknown {
  if (name === undefined) return odd;
  if (Array.isArray(value)) {
    return value.map((one, at) => (String(at) === name ? withValue(one, rest, odd) : one));
  }
  return { ...Object(value), [name]: withValue(Reflect.get(Object(value), name), rest, odd) };
}
