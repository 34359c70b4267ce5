import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUGS } from '../../../tools/torture/teeth/bugs.ts';
import { changedFiles, OutOfDate } from '../../../tools/torture/teeth/plant.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

// They are written for the engine that every operation goes through.
describe.runIf(existsSync(join(ROOT, 'src/engine')))('the planted bugs', () => {
  it.each(BUGS.map((bug) => [bug.name, bug] as const))('%s fits the source', async (_, bug) => {
    const changed = await changedFiles(bug, ROOT);
    expect(changed.size).toBeGreaterThan(0);
  });
});

describe('planting', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wagergate-planting-'));
    await mkdir(join(folder, 'src'));
    await writeFile(join(folder, 'src/a.ts'), 'one two two');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const bug = (find: string, put = 'x') => ({
    ...{ name: 'a-bug', what: 'is wrong' },
    changes: [{ file: 'src/a.ts', find, put }],
  });

  it('changes exactly the text that it names, even if the text is special in a replacement', async () => {
    const changed = await changedFiles(bug('one', "$&$'"), folder);
    expect([...changed]).toEqual([['src/a.ts', "$&$' two two"]]);
  });

  it('refuses a text that is not there, or more than once: the bug is out of date', async () => {
    await expect(changedFiles(bug('three'), folder)).rejects.toThrow(OutOfDate);
    await expect(changedFiles(bug('two'), folder)).rejects.toThrow(OutOfDate);
  });

  it('has names that are all different, and at least twelve bugs', () => {
    expect(BUGS.length).toBeGreaterThanOrEqual(12);
    expect(new Set(BUGS.map(({ name }) => name)).size).toBe(BUGS.length);
  });
});
