import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const SRC = resolve(import.meta.dirname, '../src');

/** What each room may import beside itself, as docs/architecture.md draws it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  domain: [],
  lib: ['domain'],
  telemetry: ['domain'],
  protocol: ['domain'],
  config: ['domain'],
  outbound: ['domain', 'lib'],
  store: ['domain', 'protocol', 'telemetry'],
  redis: ['domain', 'lib', 'telemetry'],
  wallets: ['domain', 'outbound', 'protocol', 'telemetry'],
  sessions: ['domain', 'protocol', 'redis', 'store', 'telemetry'],
  // Brings an operation to a wallet, for callbacks and deliveries alike.
  engine: ['config', 'domain', 'lib', 'protocol', 'sessions', 'store', 'telemetry'],
  deliveries: [
    'config',
    'domain',
    'engine',
    'lib',
    'protocol',
    'redis',
    'sessions',
    'store',
    'telemetry',
    'wallets',
  ],
  // Nothing of deliveries: what both do is the engine's.
  callbacks: [
    'config',
    'domain',
    'engine',
    'lib',
    'protocol',
    'redis',
    'sessions',
    'store',
    'telemetry',
    'wallets',
  ],
  operators: ['config', 'domain', 'lib', 'protocol', 'sessions', 'store', 'telemetry'],
  // Neither callbacks nor deliveries: a failing bonus API costs nothing there.
  bonuses: ['config', 'domain', 'lib', 'operators', 'outbound', 'protocol', 'store', 'telemetry'],
  http: ['domain', 'lib', 'protocol', 'telemetry'],
  openapi: ['bonuses', 'domain', 'operators', 'protocol'],
  admin: [
    'config',
    'domain',
    'http',
    'lib',
    'openapi',
    'outbound',
    'protocol',
    'store',
    'telemetry',
    'wallets',
  ],
  certify: ['domain', 'lib', 'outbound', 'protocol', 'wallets'],
};

/** The edge of the process: these build, start and wire. */
const MAY_IMPORT_ALL = ['cli', ''];

/** Only these read the environment. */
const MAY_READ_ENVIRONMENT = /^(main\.ts|cli\/|config\/)/;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.startsWith('store/prisma-client/'))
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

  it('reads the environment only at the edge of the process', () => {
    const readers = files.filter((file) => /process\.env\b/.test(read(file)));
    expect(readers.filter((file) => !MAY_READ_ENVIRONMENT.test(file))).toEqual([]);
  });
});

function roomOf(file: string): string {
  const slash = file.indexOf('/');
  return slash < 0 ? '' : file.slice(0, slash);
}

function importsOf(file: string): string[] {
  const specifiers = read(file).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g);
  return (
    [...specifiers]
      .map(([, specifier = '']) => relative(SRC, join(SRC, dirname(file), specifier)))
      // package.json is no room.
      .filter((imported) => !imported.startsWith('..'))
  );
}

function read(file: string): string {
  return readFileSync(join(SRC, file), 'utf8');
}
