import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const BUILD = resolve(import.meta.dirname, '../../scripts/build-console.mjs');
const INITIAL_BYTES_MAX = 150 * 1024;

interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

describe('the built console', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wagergate-built-'));
    // As on a machine that sets it for its own work; a run of the tests sets it too.
    const env = { ...process.env, NODE_ENV: 'development' };
    await promisify(execFile)(process.execPath, [BUILD, folder], { env });
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const manifest = async (): Promise<Readonly<Record<string, Chunk>>> =>
    JSON.parse(await readFile(join(folder, '.vite/manifest.json'), 'utf8'));

  it('asks for at most 150 KB of compressed script before it shows something', async () => {
    const chunks = await manifest();
    const files = new Set<string>();
    const waiting = ['index.html'];
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const chunk = chunks[name];
      if (chunk === undefined || files.has(chunk.file)) continue;
      files.add(chunk.file);
      waiting.push(...(chunk.imports ?? []));
    }
    let bytes = 0;
    for (const file of files) bytes += gzipSync(await readFile(join(folder, file))).length;
    expect(files.size).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(INITIAL_BYTES_MAX);
  });

  it('is the same whatever NODE_ENV says: never the packages’ larger build for their developers', async () => {
    const files = (await readdir(join(folder, 'assets'))).filter((name) => name.endsWith('.js'));
    const texts = await Promise.all(
      files.map((name) => readFile(join(folder, 'assets', name), 'utf8')),
    );
    expect(files.filter((_, at) => texts[at]?.includes('React DevTools'))).toEqual([]);
    // That build also names where its sources stood on the machine that built it.
    expect(files.filter((_, at) => texts[at]?.includes('src/console/'))).toEqual([]);
  });

  it('loads each page when it is gone to', async () => {
    const { 'index.html': entry } = await manifest();
    const pages = (entry?.dynamicImports ?? []).filter((name) => name.startsWith('pages/'));
    expect(pages.length).toBeGreaterThanOrEqual(5);
  });

  it('holds no script or style within its page, and nothing from elsewhere', async () => {
    const page = await readFile(join(folder, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/i);
    expect(page).not.toMatch(/(src|href)="(?!\/console\/)/);
    const styles = (await readdir(join(folder, 'assets'))).filter((name) => name.endsWith('.css'));
    for (const name of styles) {
      expect(await readFile(join(folder, 'assets', name), 'utf8')).not.toMatch(/url\(|@import/);
    }
  });
});
