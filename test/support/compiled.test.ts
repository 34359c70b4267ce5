import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { forgetOldCompiled } from './compiled.ts';

it('only what no run has used for a week is deleted: each run leaves its compiled code', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'compiled-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, 'v24'));
  const [old, used, young] = ['old', 'used', 'young'].map((name) => join(folder, 'v24', name));
  for (const path of [old, used, young]) await writeFile(path ?? '', 'compiled');
  const [now, before] = [Date.now() / 1_000, Date.now() / 1_000 - 8 * 86_400];
  await utimes(old ?? '', before, before);
  await utimes(used ?? '', now, before);
  await forgetOldCompiled(folder);
  expect([old, used, young].map((path) => existsSync(path ?? ''))).toEqual([false, true, true]);
  await forgetOldCompiled(join(folder, 'none'));
});
