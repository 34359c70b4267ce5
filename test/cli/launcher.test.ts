import { accessSync, constants, copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { spawnNode } from './support/command-line.ts';

const LAUNCHER = fileURLToPath(new URL('../../src/cli/launcher.mjs', import.meta.url));

/** Makes this Node believe that it is another one, too old to run TypeScript. */
const AS_OLD_NODE = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.1.0' } });" +
    "Object.defineProperty(process, 'version', { value: 'v20.1.0' });",
)}`;

describe('the launcher', () => {
  it.each(['launcher.mjs', 'wagergate.ts'])('%s can be run by its name', (name) => {
    const path = fileURLToPath(new URL(`../../src/cli/${name}`, import.meta.url));
    accessSync(path, constants.X_OK);
    expect(readFileSync(path, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('runs the program by the Node of node_modules where its own is too old', async () => {
    const ran = await spawnNode(
      ['--import', AS_OLD_NODE, LAUNCHER, 'verify', '--secret', 's', '--signature', 'x', '-'],
      { stdin: '{}' },
    );
    // The exit code, stdin and stderr are those of the program.
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/^error: not valid: .*\n$/);
  });

  it('says which Node it needs if there is no other', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'launcher-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const alone = join(folder, 'launcher.mjs');
    copyFileSync(LAUNCHER, alone);
    const ran = await spawnNode(['--import', AS_OLD_NODE, alone, 'migrate']);
    expect(ran).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: wagergate needs Node 24 or newer, .*`npm ci`.*\n$/),
    });
  });
});
