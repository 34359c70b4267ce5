import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../../../src/cli/onboarding/make-folder.ts';

function inFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wagergate-make-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

it('makes a folder and those above it, with their mode, and leaves one that is there', () => {
  const deep = join(inFolder(), 'a/b/c');
  makeFolder(deep, 0o700);
  makeFolder(deep);
  expect([deep, join(deep, '..')].map((path) => statSync(path).mode & 0o777)).toEqual([
    0o700, 0o700,
  ]);
});

it('gives the system’s reason if none can be made', () => {
  const folder = inFolder();
  writeFileSync(join(folder, 'file'), '');
  symlinkSync(join(folder, 'nothing'), join(folder, 'link'));
  for (const name of ['file', 'file/below', 'link']) {
    expect(() => makeFolder(join(folder, name))).toThrow(/EEXIST|ENOTDIR/);
  }
  // Node's own recursive mkdir would not return.
  expect(() => makeFolder('/proc/nowhere/below')).toThrow(/mkdir/);
});
