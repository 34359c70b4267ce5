import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { consoleRoutes } from '../../src/admin/console.ts';
import { type ConsoleFiles, readConsoleFiles } from '../../src/admin/console-files.ts';

const apps: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

const file = (text: string, contentType: string) => ({ content: Buffer.from(text), contentType });

const FILES: ConsoleFiles = new Map([
  ['index.html', file('<!doctype html>', 'text/html; charset=utf-8')],
  ['assets/main-abc123.js', file('start()', 'text/javascript; charset=utf-8')],
]);

function start(files: ConsoleFiles = FILES): FastifyInstance {
  const app = Fastify();
  consoleRoutes(app, files);
  apps.push(app);
  return app;
}

describe('the console of the internal listener', () => {
  it.each([
    '/console',
    '/console/',
    '/console/bets/17',
    '/console/bets/..%2f..%2fpackage.json',
    '/console/operators/a?x=1',
  ])('is the same page at %s', async (url) => {
    const answer = await start().inject(url);
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toBe('<!doctype html>');
    expect(answer.headers['cache-control']).toBe('no-cache');
  });

  it('caches files that are named by their content for ever', async () => {
    const { headers, body } = await start().inject('/console/assets/main-abc123.js');
    expect(body).toBe('start()');
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  it('does not pass a page for a script that is gone', async () => {
    const answer = await start().inject('/console/assets/main-older.js');
    expect(answer.statusCode).toBe(404);
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('is compressed for clients that accept it', async () => {
    const { headers, rawPayload } = await start().inject({
      url: '/console',
      headers: { 'accept-encoding': 'br, gzip' },
    });
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers.vary).toBe('accept-encoding');
    expect(gunzipSync(rawPayload).toString()).toBe('<!doctype html>');
  });

  it('runs no script but its own, and stands in nobody else’s page (I8)', async () => {
    const { headers } = await start().inject('/console');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('no-referrer');
  });

  it('says how it is built where it was not', async () => {
    const answer = await start(new Map()).inject('/console');
    expect(answer.statusCode).toBe(404);
    expect(answer.json().message).toBe('The console is not built: npm run console');
  });

  it('serves pages, scripts, styles and pictures of its folder, and nothing else there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wagergate-console-'));
    try {
      await writeFile(join(folder, 'index.html'), 'page');
      await writeFile(join(folder, 'manifest.json'), '{}');
      await writeFile(join(folder, 'main.js.map'), '{}');
      expect([...readConsoleFiles(folder).keys()]).toEqual(['index.html']);
    } finally {
      await rm(folder, { recursive: true });
    }
    expect(readConsoleFiles(folder).size).toBe(0);
  });
});
