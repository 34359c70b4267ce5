import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { hasDescriptors, openFilesMax } from '../../src/http/descriptors.ts';

const MODULE = join(import.meta.dirname, '../../src/http/descriptors.ts');

it('has descriptors like any process', async () => {
  expect(await hasDescriptors()).toBe(true);
});

it('sees that the limit of open files is reached, and that it is no more', async () => {
  const found = await limitedTo(
    64,
    `
    import { closeSync, openSync } from 'node:fs';
    const { hasDescriptors } = await import(process.argv[1]);
    const files = [];
    try { for (;;) files.push(openSync('/dev/null')); }
    catch (error) { if (error.code !== 'EMFILE') throw error; }
    const atLimit = await hasDescriptors();
    for (const file of files) closeSync(file);
    process.stdout.write(JSON.stringify([atLimit, await hasDescriptors()]));`,
  );
  expect(found).toEqual([false, true]);
});

it('knows how many files the process may have open', async () => {
  const found = await limitedTo(
    321,
    `
    const { openFilesMax } = await import(process.argv[1]);
    process.stdout.write(JSON.stringify(openFilesMax()));`,
  );
  expect(found).toBe(321);
});

it('takes an unknown limit for none', async () => {
  expect(openFilesMax('/nowhere/limits')).toBe(Infinity);
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-limits-'));
  const file = join(folder, 'limits');
  await writeFile(
    file,
    'Max open files            unlimited            unlimited            files\n',
  );
  expect(openFilesMax(file)).toBe(Infinity);
  await rm(folder, { recursive: true });
});

/** The output of a script in a process that may have this many files open. */
async function limitedTo(openFiles: number, script: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    `ulimit -n ${openFiles}; exec "$0" --input-type=module -e "$1" "$2"`,
    process.execPath,
    script,
    MODULE,
  ]);
  return JSON.parse(stdout);
}
