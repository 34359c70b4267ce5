import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import pkg from '../../package.json' with { type: 'json' };

const SRC = fileURLToPath(new URL('../../src', import.meta.url));
const MAIN = `${SRC}/main.ts`;
const WAGERGATE = `${SRC}/cli/wagergate.ts`;
const YOUNG = '--max-semi-space-size=32';
const NOT_OLD = '--no-allocation-site-pretenuring';

/** A `node` that prints how it was started. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wagergate-entry-point-'));
  writeFileSync(join(folder, 'node'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
});
afterAll(() => rmSync(folder, { recursive: true }));

async function nodeArgs(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const PATH = `${folder}:/usr/bin:/bin`;
  const { stdout } = await promisify(execFile)(`${SRC}/entry-point.sh`, args, {
    env: { PATH, ...env },
  });
  return stdout.trim();
}

describe('the image’s entry point', () => {
  it('gives the gateway room for new objects, of which Node takes next to none in a small container', async () => {
    expect(await nodeArgs([])).toBe(`${YOUNG} ${NOT_OLD} ${MAIN}`);
    expect(pkg.scripts.start).toBe(`exec node ${YOUNG} ${NOT_OLD} src/main.ts`);
  });

  it('leaves that to NODE_OPTIONS where they speak of it', async () => {
    const args = (options: string) => nodeArgs([], { NODE_OPTIONS: options });
    expect(await args('--max-semi-space-size=4')).toBe(`${NOT_OLD} ${MAIN}`);
    expect(await args('--max_semi_space_size=4')).toBe(`${NOT_OLD} ${MAIN}`);
    expect(await args('--enable-source-maps')).toBe(`${YOUNG} ${NOT_OLD} ${MAIN}`);
  });

  it('runs a command with its words as they are', async () => {
    expect(await nodeArgs(['migrate'])).toBe(`${WAGERGATE} migrate`);
    expect(await nodeArgs(['wagergate', 'bet', 'a  b'])).toBe(`${WAGERGATE} bet a  b`);
    expect(await nodeArgs(['node', '--version'])).toBe('--version');
  });
});
