import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { dialectSchema } from '../../src/config/schema/schema.ts';
import { loadAlpha } from './support/folder.ts';

const text = readFileSync(new URL('../../docs/dialects.md', import.meta.url), 'utf8');

it('the page on dialects has a section for every item, and for nothing else', () => {
  const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
  expect(headings.filter((heading) => heading !== 'Without any item').sort()).toEqual(
    Object.keys(dialectSchema.shape).sort(),
  );
});

const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)]
  .flatMap(([, block = '']) => block.split(/^(?=dialect:)/m))
  .filter((example) => example.startsWith('dialect:'));

it.each(examples)('its example is taken: %s', (example) => {
  const indented = example.replaceAll(/^/gm, '  ');
  const { dialect } = loadAlpha('', indented, { ALPHA_API_KEY: 'a-key' }).wallet;
  expect(dialect).not.toEqual(loadAlpha().wallet.dialect);
});
