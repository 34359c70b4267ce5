// Takes out of an installed node_modules what no process of the gateway can load: for the image.
//
//   node scripts/prune-packages.mjs node_modules
//
// Rules, not a list of what is used: a file that only some rare path loads must not be missing there.
// All that stays gets one time, so that the same packages always make the same layer of an image.
import { lstatSync, lutimesSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Read only by debuggers, compilers and people. TypeScript is not run below node_modules. */
const FILES = [
  /\.map$/,
  /\.(d\.)?[cm]?ts$/,
  /\.(flow|tsbuildinfo)$/,
  /(^|\/)(?!licen[cs]e|copying|notice)[^/]*\.(md|markdown)$/i,
  /(^|\/)(\.travis\.yml|\.eslintrc[^/]*|\.prettierrc[^/]*|\.editorconfig|\.npmignore|Makefile)$/,
];

/** Folders at a package's top level, unless its package.json refers to them. */
const FOLDERS =
  /^(tests?|__tests__|spec|bench(mark)?s?|examples?|docs?|coverage|\.github|\.vscode|man)$/;

/** Packages that contain only types. */
const PACKAGES = /^@types\//;

/** Parts of a package for other runtimes than Node or other databases, by their paths. */
const OF_OTHERS = {
  '@prisma/client': /^(scripts|runtime\/(?!client\.|query_compiler_small_bg\.postgresql\.))/,
  luxon: /^(src|build\/(?!node\/))/,
  zod: /^src\//,
};
/** Builds that only a bundler uses: Node reads `main` or `exports`. */
const BUNDLER_BUILDS = /^(build\/(esm|esnext)\/|dist\/.*\.min\.[cm]?js$)/;

const EPOCH = 0;

const [, , root] = process.argv;
if (root === undefined) {
  process.stderr.write('usage: node scripts/prune-packages.mjs NODE_MODULES\n');
  process.exit(2);
}

const before = sizeOf(root);
for (const name of packagesIn(root)) prune(name, join(root, name));
removeEmpty(root);
// It names the release: with it no two releases would share a layer.
rmSync(join(root, '.package-lock.json'), { force: true });
settleTimes(root);
const after = sizeOf(root);
process.stdout.write(`${root}: ${megabytes(before)} MB, of which ${megabytes(after)} are needed\n`);

/** Includes packages nested below others. */
function packagesIn(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== '.bin')
    .flatMap(({ name }) =>
      name.startsWith('@')
        ? readdirSync(join(folder, name)).map((inScope) => `${name}/${inScope}`)
        : [name],
    )
    .flatMap((name) => [name, ...below(join(folder, name)).map((inner) => `${name}/${inner}`)]);
}

function below(folder) {
  const nested = join(folder, 'node_modules');
  const there = readdirSync(folder).includes('node_modules');
  return there ? packagesIn(nested).map((name) => `node_modules/${name}`) : [];
}

function prune(path, folder) {
  const name = path.split('node_modules/').at(-1) ?? path;
  if (PACKAGES.test(name)) {
    rmSync(folder, { recursive: true });
    return;
  }
  const {
    main = 'index.js',
    exports,
    bin,
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const loaded = JSON.stringify([main, exports, bin]);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory() && FOLDERS.test(entry.name) && !loaded.includes(`${entry.name}/`)) {
      rmSync(join(folder, entry.name), { recursive: true });
    }
  }
  for (const file of filesIn(folder)) {
    const inside = relative(folder, file);
    const isOfOthers = OF_OTHERS[name]?.test(inside) === true;
    const isForBundlers =
      BUNDLER_BUILDS.test(inside) && exports === undefined && join(main) !== inside;
    if (isOfOthers || isForBundlers || FILES.some((rule) => rule.test(inside))) rmSync(file);
  }
}

/** Without the files of nested packages. */
function filesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return [path];
    return entry.name === 'node_modules' ? [] : filesIn(path);
  });
}

/** @returns whether nothing is left */
function removeEmpty(folder) {
  const left = readdirSync(folder, { withFileTypes: true }).filter(
    (entry) => !entry.isDirectory() || !removeEmpty(join(folder, entry.name)),
  );
  if (left.length === 0) rmSync(folder, { recursive: true });
  return left.length === 0;
}

function settleTimes(path) {
  if (lstatSync(path).isDirectory()) {
    for (const name of readdirSync(path)) settleTimes(join(path, name));
  }
  lutimesSync(path, EPOCH, EPOCH);
}

function sizeOf(path) {
  const status = lstatSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(0);
}
