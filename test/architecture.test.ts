import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reachOf, type SourceFile, sourceFiles } from './support/source-tree.ts';

const SRC = resolve(import.meta.dirname, '../src');

/** What each room may import besides itself, as docs/architecture.md draws it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  lib: ['domain'],
  telemetry: ['domain', 'lib'],
  protocol: ['domain'],
  config: ['domain', 'lib'],
  outbound: ['domain', 'lib'],
  store: ['domain', 'lib', 'protocol', 'telemetry'],
  redis: ['domain', 'lib', 'telemetry'],
  wallets: ['domain', 'lib', 'outbound', 'protocol', 'telemetry'],
  sessions: ['domain', 'lib', 'protocol', 'redis', 'store', 'telemetry'],
  // What each callback and each delivery does, and how it is sent to its wallet. Nothing from deliveries.
  operations: [
    'config',
    'domain',
    'lib',
    'protocol',
    'redis',
    'sessions',
    'store',
    'telemetry',
    'wallets',
  ],
  // What was promised and waits: which delivery is attempted when.
  deliveries: [
    'config',
    'domain',
    'lib',
    'operations',
    'protocol',
    'redis',
    'store',
    'telemetry',
    'wallets',
  ],
  // Turns what wallets confirmed into movements, days and statements; calls no wallet.
  books: ['config', 'domain', 'lib', 'protocol', 'store', 'telemetry'],
  operators: ['books', 'config', 'domain', 'lib', 'protocol', 'sessions', 'store', 'telemetry'],
  // Neither operations nor deliveries: a failing bonus API must not affect them.
  bonuses: ['config', 'domain', 'lib', 'operators', 'outbound', 'protocol', 'store', 'telemetry'],
  http: ['domain', 'lib', 'protocol', 'telemetry'],
  openapi: ['bonuses', 'domain', 'operators', 'protocol'],
  // Identifies callers: the issuer of people and services.
  people: ['domain', 'lib'],
  admin: [
    'books',
    'config',
    'domain',
    'http',
    'lib',
    'openapi',
    'outbound',
    'people',
    'protocol',
    'store',
    'telemetry',
    'wallets',
  ],
  certify: ['domain', 'lib', 'outbound', 'protocol', 'wallets'],
  // Only types of the answers that it shows; of the server's code only `domain` gets into the browser.
  console: ['admin', 'config', 'domain', 'store'],
};

/** The edge of the process, which builds, starts and wires everything. */
const MAY_IMPORT_ALL = ['cli', 'process', 'wiring', ''];

/** Only these read the environment. */
const MAY_READ_ENVIRONMENT = /^((main|health-check|process\/run-gateway)\.ts|cli\/|config\/)/;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.startsWith('store/prisma-client/'))
  .sort();

describe('the rooms of src/', () => {
  it.each(Object.keys(MAY_IMPORT))('%s imports only what lies below it', (room) => {
    const allowed = new Set([room, ...(MAY_IMPORT[room] ?? [])]);
    const wrong = files
      .filter((file) => roomOf(file) === room)
      .flatMap((file) => importsOf(file).map((imported) => ({ file, imported })))
      .filter(({ imported }) => !allowed.has(roomOf(imported)));
    expect(wrong).toEqual([]);
  });

  it('has no room that this test does not know', () => {
    const rooms = new Set(files.map(roomOf));
    for (const known of [...Object.keys(MAY_IMPORT), ...MAY_IMPORT_ALL]) rooms.delete(known);
    expect([...rooms]).toEqual([]);
  });

  it('takes nothing but types from the server into the browser', () => {
    const taken = files
      .filter((file) => roomOf(file) === 'console')
      .flatMap((file) =>
        [...read(file).matchAll(/^import (?!type )[^;]*?from '(\.[^']+)'/gms)].map(
          ([, specifier = '']) => relative(SRC, join(SRC, dirname(file), specifier)),
        ),
      );
    expect(taken.filter((file) => !['console', 'domain'].includes(roomOf(file)))).toEqual([]);
  });

  it('reads the environment only at the edge of the process', () => {
    const readers = files.filter((file) => /process\.env\b/.test(read(file)));
    expect(readers.filter((file) => !MAY_READ_ENVIRONMENT.test(file))).toEqual([]);
  });
});

const LINES_MAX = 300;
const FUNCTION_LINES_MAX = 60;

/** What is run for each callback would leave its memory to major collections (decision 0034); these are not. */
const IS_OFF_THE_PATH = /^src\/(certify|cli|console)\//;

/** Once each: for a comparison, a start or a shutdown. */
const ASSIGNED = [
  'src/books/reconciliation/run.ts',
  'src/process/gateway-process.ts',
  'src/store/schema/prisma.ts',
  'src/telemetry/logger.ts',
];

/** Started by Node itself, so nobody imports their exports. */
const ENTRIES = /^(src\/main\.ts|src\/cli\/wagergate\.ts|src\/console\/main\.tsx)$/;

describe('the shape of the code', () => {
  const product = sourceFiles('src');
  const own = [...product, ...sourceFiles('tools', 'bench', 'grafana', 'scripts')];
  const all = [...own, ...sourceFiles('test')];

  it('has no files that import each other in a circle', () => {
    expect(circlesOf(all).sort()).toEqual([]);
  });

  it('exports nothing that nobody imports', () => {
    const taken = new Set(
      all.flatMap(({ imports }) =>
        imports.flatMap(({ from, names }) => names.map((name) => `${from} ${name}`)),
      ),
    );
    const unused = own
      .filter(({ path }) => !ENTRIES.test(path))
      .flatMap(({ path, exports }) =>
        exports
          .filter(({ isUsedHere }) => !isUsedHere)
          .filter(({ name }) => !taken.has(`${path} ${name}`) && !taken.has(`${path} *`))
          .map(({ name }) => `${path} ${name}`),
      );
    expect(unused).toEqual([]);
  });

  it('has one name for one thing: no two files of src/ export the same', () => {
    const makers = new Map<string, string[]>();
    for (const { path, exports } of product) {
      for (const { name } of exports) makers.set(name, [...(makers.get(name) ?? []), path]);
    }
    const shared = [...makers].filter(([, paths]) => paths.length > 1);
    const told = shared.map(([name, paths]) => `${name}: ${paths.join(', ')}`);
    expect(told.sort()).toEqual([]);
  });

  it(`has no file of more than ${LINES_MAX} lines`, () => {
    const long = all.filter(({ lines }) => lines > LINES_MAX);
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it(`has no function of more than ${FUNCTION_LINES_MAX} lines`, () => {
    const long = own.flatMap(({ path, functions }) =>
      functions
        .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
        .map(({ name }) => `${path} ${name}`),
    );
    expect(long).toEqual([]);
  });

  it('assigns no function to a property where it is written, for a call or a connection', () => {
    const assigned = product
      .filter(({ path }) => !IS_OFF_THE_PATH.test(path))
      .flatMap(({ path, functions }) =>
        functions.flatMap(({ isAssigned }) => (isAssigned ? [path] : [])),
      );
    expect(assigned).toEqual(ASSIGNED);
  });

  it('keeps what tests share in a folder `support`, so that beside a test there are only tests', () => {
    const beside = all
      .map(({ path }) => path)
      .filter((path) => path.startsWith('test/') && !path.endsWith('.test.ts'))
      .filter((path) => !path.includes('/support/'));
    expect(beside).toEqual([]);
  });

  it('lets nothing but a test and its setup register hooks: where files share a process, they would be in force for one file alone', () => {
    const hooking = all
      .map(({ path }) => path)
      .filter((path) => !path.endsWith('.test.ts'))
      .filter((path) => /^(?:before|after)(?:All|Each)\(/m.test(read(`../${path}`)));
    expect(hooking).toEqual(['test/support/after-each-file.ts']);
  });
});

/** Files that can reach each other through imports, types included; each cycle sorted. */
function circlesOf(sources: readonly SourceFile[]): string[] {
  const reach = reachOf(sources);
  const circles = [...reach]
    .filter(([path, reached]) => reached.has(path))
    .map(([path, reached]) =>
      [...reached].filter((other) => reach.get(other)?.has(path) === true).sort(),
    );
  return [...new Set(circles.map((circle) => circle.join(', ')))];
}

function roomOf(file: string): string {
  const slash = file.indexOf('/');
  return slash < 0 ? '' : file.slice(0, slash);
}

function importsOf(file: string): string[] {
  const specifiers = read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
  return (
    [...specifiers]
      .map(([, specifier = '']) => relative(SRC, join(SRC, dirname(file), specifier)))
      // package.json belongs to no room.
      .filter((imported) => !imported.startsWith('..'))
  );
}

function read(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}
