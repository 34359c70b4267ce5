import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from '../support/source-tree.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** `delivery.dead: a person has to decide`: people search for the name, prose belongs in `note`. */
const NAME_WITH_PROSE = /['`]([a-z_]+\.[a-z_]+): [^'`]*['`]/;

it('every log line has a stable name as its message, and its prose in a field', () => {
  const mixed = sourceFiles('src')
    .map(({ path }) => path)
    .filter((path) => NAME_WITH_PROSE.test(readFileSync(join(ROOT, path), 'utf8')));
  expect(mixed).toEqual([]);
});
