import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it, as `mkdir -p` does. Node's own `recursive` never returns where a file
 * system refuses new folders with ENOENT, as `/proc` does.
 *
 * @param mode of those that are made; default: as the process's umask leaves it
 * @throws Error of the system where that is not possible
 */
export function makeFolder(path: string, mode?: number): void {
  const folder = resolve(path);
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (!isFolder(above)) makeFolder(above, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    // Somebody else has made it in the same moment.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
