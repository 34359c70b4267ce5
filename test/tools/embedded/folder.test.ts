import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openToAll } from '../../../tools/embedded/folder.ts';

it('a program is open to all where all may run it and enter every folder that it lies in', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-open-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = join(folder, 'program');
  await writeFile(program, '');
  const modes = async (ofFolder: number, ofProgram: number) => {
    await chmod(folder, ofFolder);
    await chmod(program, ofProgram);
    return await openToAll(program);
  };
  expect(await modes(0o755, 0o755)).toBe(await openToAll(tmpdir()));
  expect(await modes(0o700, 0o755)).toBe(false);
  expect(await modes(0o755, 0o744)).toBe(false);
});
