// Builds the console's pages (src/console) into dist/console, after an install and by
// `npm run console`. Skips where Vite is absent (an install without development packages) or where
// the sources have not been copied yet (the image builds in steps).
//
//   node scripts/build-console.mjs [OUT_FOLDER]
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
if (!existsSync(join(root, 'src', 'console', 'index.html'))) process.exit(0);

// Vite leaves NODE_ENV as it finds it, and with any other value takes React's build for its developers: larger, slower, and
// not the one that the image has. A run of the tests sets it, and so do some people's shells.
process.env.NODE_ENV = 'production';
const vite = await import('vite').catch((error) => {
  if (error.code === 'ERR_MODULE_NOT_FOUND') process.exit(0);
  throw error;
});
const [, , outFolder] = process.argv;
await vite.build({
  configFile: join(root, 'vite.config.ts'),
  root: join(root, 'src', 'console'),
  logLevel: 'warn',
  ...(outFolder === undefined ? {} : { build: { outDir: resolve(outFolder) } }),
});
