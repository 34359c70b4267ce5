// Generates the Prisma client after an install. Skips where the Prisma CLI is absent (production
// images copy the generated client instead) or where the schema has not been copied yet.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);

function prismaCli() {
  try {
    return join(dirname(require.resolve('prisma/package.json')), 'build', 'index.js');
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

const cli = prismaCli();
if (cli === undefined || !existsSync(join(root, 'prisma', 'schema.prisma'))) process.exit(0);

const bundledNode = join(root, 'node_modules', 'node', 'bin', 'node');
const node = existsSync(bundledNode) ? bundledNode : process.execPath;
const result = spawnSync(node, [cli, 'generate'], {
  cwd: root,
  encoding: 'utf8',
  env: {
    ...process.env,
    // `generate` only checks that this file exists; without it the CLI would download an engine.
    PRISMA_SCHEMA_ENGINE_BINARY: join(root, 'package.json'),
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  },
});
if (result.status !== 0) {
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}${result.error ?? ''}\n`);
  process.exit(result.status ?? 1);
}

// The first query of a process compiles Prisma's WebAssembly. As generated, every callback would wait for that.
const generated = join(root, 'src', 'store', 'prisma-client', 'internal', 'class.ts');
const [here, elsewhere] = ['new WebAssembly.Module(', 'await WebAssembly.compile('];
const code = readFileSync(generated, 'utf8');
if (code.split(here).length !== 2) {
  process.stderr.write(
    `${generated}: not one "${here}…)": see how this release of Prisma compiles its queries\n`,
  );
  process.exit(1);
}
writeFileSync(generated, code.replace(here, elsewhere));
