import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';

/** Puts all temporary folders of this test file into one, so that leftovers can be seen. */
export function useOwnTemporaryFolder(): { readonly path: string; leftovers(): Promise<string[]> } {
  const usual = process.env.TMPDIR;
  let path = '';
  beforeAll(async () => {
    path = await mkdtemp(join(tmpdir(), 'wagergate-test-'));
    await chmod(path, 0o755);
    process.env.TMPDIR = path;
  });
  afterAll(async () => {
    if (usual === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = usual;
    await rm(path, { recursive: true, force: true });
  });
  return {
    get path() {
      return path;
    },
    leftovers: () => readdir(path),
  };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
