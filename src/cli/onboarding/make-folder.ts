import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Like `mkdir -p`. Node's own `recursive` never returns where a file system refuses with ENOENT (`/proc`).
 * @param mode of the new folders; default: by the umask @throws Error of the system
 */
export function makeFolder(path: string, mode?: number): void {
  const folder = resolve(path);
  if (isFolder(folder)) return;
  const above = dirname(folder);
  if (!isFolder(above)) makeFolder(above, mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    // Another process may have made it at the same moment.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
