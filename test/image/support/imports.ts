import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './dockerfile.ts';

export interface Reach {
  /** Files of the repository, relative to its root. */
  readonly files: ReadonlySet<string>;
  /** Names of npm packages. */
  readonly packages: ReadonlySet<string>;
}

/** Everything that these files load when they run; type-only imports are left out. */
export function reachOf(entries: readonly string[]): Reach {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    if (!/\.(ts|mjs)$/.test(file)) continue;
    for (const specifier of importsOf(file)) {
      if (specifier.startsWith('node:')) continue;
      if (specifier.startsWith('.'))
        open.push(relative(ROOT, join(ROOT, dirname(file), specifier)));
      else packages.add(packageOf(specifier));
    }
  }
  return { files, packages };
}

function importsOf(file: string): string[] {
  const path = join(ROOT, file);
  if (!existsSync(path)) throw new Error(`${file} is imported and not there`);
  const text = readFileSync(path, 'utf8')
    .replace(/^import type [^;]*;/gm, '')
    .replace(/^export type [^;]*? from [^;]*;/gm, '')
    // In a comment, or resolved by hand.
    .replace(/^\s*(\/\/|\*).*$/gm, '');
  const found = text.matchAll(
    /(?:\bfrom|\bimport|import\.meta\.resolve|new URL)\s*\(?\s*['"]([^'"\n]+)['"]/g,
  );
  return [...found].map(([, specifier = '']) => specifier).filter(isModule);
}

/** `new URL('wagergate.ts', import.meta.url)` names a neighbour without a dot; plain words are skipped. */
function isModule(specifier: string): boolean {
  return /^(\.{1,2}\/|node:|@[\w-]+\/[\w.-]+|[\w-]+(\/[\w.-]+)*$)/.test(specifier);
}

function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
