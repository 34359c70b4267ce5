import { readdir, stat, unlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { mapLimited } from '../../src/lib/map-limited.ts';

/** Where Node keeps its compiled code of the tests, unless `NODE_COMPILE_CACHE` names another folder. */
export const COMPILED_FOLDER = resolve(
  import.meta.dirname,
  '../../node_modules/.cache/wagergate/compiled',
);

/** For programs with their own environment: with Node's cache they start in half the time. */
export const COMPILED: Readonly<Record<string, string>> =
  process.env.NODE_COMPILE_CACHE === undefined
    ? {}
    : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };

const KEPT_MS = 7 * 24 * 60 * 60_000;
const AT_ONCE = 64;

/**
 * Node never deletes from its cache, and each run compiles sources that no other run needs, which tests have
 * changed or planted: some 200 MB in half a day of runs. Never rejects.
 * @param folder the folder of that cache, which nobody else uses; missing: there is none
 */
export async function forgetOldCompiled(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  await mapLimited(files, AT_ONCE, async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    try {
      const { atimeMs, mtimeMs } = await stat(path);
      if (Date.now() - Math.max(atimeMs, mtimeMs) > KEPT_MS) await unlink(path);
    } catch {
      // Another run deleted it first.
    }
  });
}
