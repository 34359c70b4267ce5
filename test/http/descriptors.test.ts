import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { hasDescriptors } from '../../src/http/descriptors.ts';

const MODULE = join(import.meta.dirname, '../../src/http/descriptors.ts');

it('has descriptors like any process', async () => {
  expect(await hasDescriptors()).toBe(true);
});

it('sees that the limit of open files is reached, and that it is no more', async () => {
  const script = `
    import { closeSync, openSync } from 'node:fs';
    const { hasDescriptors } = await import(process.argv[1]);
    const files = [];
    try { for (;;) files.push(openSync('/dev/null')); }
    catch (error) { if (error.code !== 'EMFILE') throw error; }
    const atLimit = await hasDescriptors();
    for (const file of files) closeSync(file);
    process.stdout.write(JSON.stringify([atLimit, await hasDescriptors()]));`;
  const { stdout } = await promisify(execFile)('/bin/sh', [
    '-c',
    'ulimit -n 64; exec "$0" --input-type=module -e "$1" "$2"',
    process.execPath,
    script,
    MODULE,
  ]);
  expect(JSON.parse(stdout)).toEqual([false, true]);
});
