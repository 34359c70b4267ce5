import { execFile } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src/console');
const BUILT = join(ROOT, 'dist/console/index.html');

/** Builds the console if its sources are newer than the last build. @throws Error */
export async function buildIfStale(): Promise<void> {
  const newest = Math.max(
    ...readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).map((name) =>
      changedAtMs(join(SOURCES, name)),
    ),
  );
  if (changedAtMs(BUILT) > newest) return;
  await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/build-console.mjs')]);
}

/** 0 if the file does not exist. */
function changedAtMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
