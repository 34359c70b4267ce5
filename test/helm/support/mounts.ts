import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isTree } from './chart.ts';

export function mount(name: string, mountPath: string) {
  return { name, mountPath, readOnly: true };
}

/** Writes files as Kubernetes mounts a ConfigMap or a Secret: through a folder that is swapped. */
export function mountFiles(folder: string, data: unknown, change = (text: string) => text): void {
  mkdirSync(join(folder, '..2026_11_21'), { recursive: true });
  symlinkSync('..2026_11_21', join(folder, '..data'));
  for (const [name, text] of Object.entries(isTree(data) ? data : {})) {
    writeFileSync(join(folder, '..data', name), change(String(text)));
    symlinkSync(join('..data', name), join(folder, name));
  }
}
