import { readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type InlineConfig } from 'vite';

const ROOT = resolve(import.meta.dirname, '../..');
const SOURCES = join(ROOT, 'src');
const FOLDER = join(ROOT, 'node_modules/.cache/wagergate/bundle');

/**
 * The gateway in a few files: it starts with a third of the processor time that a thousand modules take. What is
 * released, `src/main.ts` itself, is started by the tests of the image.
 */
export const BUNDLED_MAIN = join(FOLDER, 'main.js');

/**
 * Bundles the gateway if its sources or packages are newer than the last bundle. If it cannot be bundled, that is said,
 * and there is none: whatever needs no process can still be tested.
 */
export async function bundleIfStale(): Promise<void> {
  const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  const newest = [...sources.map((name) => join(SOURCES, name)), join(ROOT, 'package-lock.json')];
  if (changedAtMs(BUNDLED_MAIN) > Math.max(...newest.map(changedAtMs))) return;
  await rm(FOLDER, { recursive: true, force: true });
  await build(BUNDLING).catch((error: unknown) => {
    console.error('The gateway cannot be bundled, so no test can start it:', error);
  });
}

const BUNDLING: InlineConfig = {
  root: ROOT,
  configFile: false,
  envFile: false,
  logLevel: 'error',
  ssr: { noExternal: true },
  build: {
    ssr: 'src/main.ts',
    outDir: FOLDER,
    target: 'node24',
    chunkSizeWarningLimit: Number.POSITIVE_INFINITY,
  },
  // The migrations and the console are found from where each source file is.
  plugins: [
    {
      name: 'own-place',
      transform: (code, id) =>
        id.startsWith(SOURCES)
          ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
          : undefined,
    },
  ],
};

/** 0 if the file does not exist. */
function changedAtMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
