import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FileReader } from '../../../src/config/folder/files.ts';

it('a file that could not be read for a moment is read again once it can be, although it did not change', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-files-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'alpha.yaml');
  const target = join(folder, 'target');
  const away = join(folder, 'away');
  await writeFile(path, 'the name that is watched');
  await writeFile(target, 'id: alpha');
  await rename(target, away);
  const files = new FileReader();
  expect(files.read(path, target)).toEqual({ ok: false, reason: 'does not exist' });
  const told = () => {
    const steps = files.changes();
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  };
  // Each look: nothing to reload as long as it cannot be read.
  expect([told(), told()]).toEqual(['', '']);
  await rename(away, target);
  expect(told()).toContain(path);
  files.forget();
  expect(files.read(path, target)).toEqual({ ok: true, text: 'id: alpha' });
  expect(told()).toBe('');
});
