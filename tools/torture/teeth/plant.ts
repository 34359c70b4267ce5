import { cpSync } from 'node:fs';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Bug } from './bug.ts';

/** What a gateway needs to start. */
const COPIED = ['src', 'prisma', 'package.json'] as const;

/** The source no longer contains a bug's text as described: the bug is out of date. */
export class OutOfDate extends Error {}

export interface Planted {
  /** Contains a `src/` with the bug. */
  readonly folder: string;
  remove(): Promise<void>;
}

/** The changed files of a bug. @throws OutOfDate if a text does not occur exactly once */
export async function changedFiles(bug: Bug, source: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const { file, find, put } of bug.changes) {
    const text = texts.get(file) ?? (await readFile(join(source, file), 'utf8').catch(() => ''));
    const times = text.split(find).length - 1;
    if (times !== 1) {
      throw new OutOfDate(`${bug.name}: ${file} holds its text ${times} times, not once:\n${find}`);
    }
    texts.set(
      file,
      text.replace(find, () => put),
    );
  }
  return texts;
}

/** Copies the gateway to a temporary folder, with one bug in it: production code has no switch for bugs. */
export async function plant(bug: Bug, source: string): Promise<Planted> {
  const changed = await changedFiles(bug, source);
  const folder = await mkdtemp(join(tmpdir(), `wagergate-${bug.name}-`));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    for (const each of COPIED) {
      // Synchronous: the asynchronous copy takes five times the processor time.
      cpSync(join(source, each), join(folder, each), { recursive: true });
    }
    await symlink(resolve(source, 'node_modules'), join(folder, 'node_modules'));
    for (const [file, text] of changed) await writeFile(join(folder, file), text);
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
