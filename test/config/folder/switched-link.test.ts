import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { FileReader } from '../../../src/config/folder/files.ts';
import { SecretPlaces } from '../../../src/config/folder/secret-folders.ts';
import { createOperatorResolver } from '../../../src/config/folder/variables.ts';
import { partly } from '../../support/partly.ts';

/** A secret in a mounted folder whose link is switched right after it was followed. */
function switchedWhileRead({ isOldRemoved }: { readonly isOldRemoved: boolean }) {
  const folder = mkdtempSync(join(tmpdir(), 'wagergate-switched-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [path, before, after] = ['secret', 'before', 'after'].map((name) => join(folder, name));
  if (path === undefined || before === undefined || after === undefined) throw new Error('no path');
  writeFileSync(before, 'the secret of before');
  writeFileSync(after, 'the secret of after');
  symlinkSync(before, path);
  const files = new FileReader();
  const places = new SecretPlaces([folder], join(folder, 'none'));
  let isSwitched = false;
  const resolve = createOperatorResolver(
    {},
    files,
    partly<SecretPlaces>({
      of: (asked: string) => {
        const place = places.of(asked);
        if (isSwitched) return place;
        isSwitched = true;
        unlinkSync(path);
        symlinkSync(after, path);
        if (isOldRemoved) rmSync(before);
        return place;
      },
    }),
  );
  const read = () => {
    files.forget();
    return resolve(`file:${path}`);
  };
  const changes = () => {
    const steps = files.changes();
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
    }
  };
  return { path, read, changes };
}

it.each([
  [true, 'is gone', { ok: false }],
  [false, 'is still there', { ok: true, value: 'the secret of before' }],
])(
  'a secret whose link is switched while it is read is read again (%s: its old target %s)',
  (isOldRemoved, _, first) => {
    const { path, read, changes } = switchedWhileRead({ isOldRemoved });
    expect(read()).toMatchObject(first);
    expect(changes()).toContain(path);
    expect(read()).toMatchObject({ ok: true, value: 'the secret of after' });
    expect(changes()).toBe('');
  },
);
