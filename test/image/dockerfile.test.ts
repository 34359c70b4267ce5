import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import pkg from '../../package.json' with { type: 'json' };
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { argsOf, contextFilter, copiesOf, ROOT, readStages } from './support/dockerfile.ts';
import { reachOf } from './support/imports.ts';
import { runToEnd } from './support/run.ts';

const stages = readStages();
const last = stages.at(-1);
if (last === undefined) throw new Error('the Dockerfile has no stage');
const inContext = contextFilter();

/** What people start in the image. */
const ENTRIES = ['src/main.ts', 'src/cli/launcher.mjs', 'src/cli/wagergate.ts'];

describe('the image', () => {
  it('is built on the Node that the package asks for', () => {
    const major = pkg.engines.node.replace(/\D+/g, '');
    expect(stages.map(({ base }) => base)).toEqual(stages.map(() => `node:${major}-slim`));
  });

  it('copies only what is there, from the build context or from an earlier stage', () => {
    const aliases = stages.map(({ alias }) => alias);
    for (const [index, stage] of stages.entries()) {
      for (const { from, sources } of copiesOf(stage)) {
        if (from !== undefined) {
          expect(aliases.slice(0, index)).toContain(from);
          continue;
        }
        for (const source of sources.map(withoutSlash)) {
          expect(existsSync(join(ROOT, source)), source).toBe(true);
          expect(inContext(source), `${source} is kept by .dockerignore`).toBe(true);
        }
      }
    }
  });

  it('holds every file that its commands load', () => {
    const copied = copiesOf(last).flatMap(({ sources }) =>
      sources.map((source) => withoutSlash(source).replace(/^\/app\//, '')),
    );
    const isCopied = (file: string) =>
      copied.some((source) => file === source || file.startsWith(`${source}/`));
    const isKept = (file: string) => inContext(file) || file.startsWith('src/store/prisma-client/');
    const files = new Set(reachOf(ENTRIES).files);
    expect(files.size).toBeGreaterThan(100);
    // The launcher's way out where Node is too old: not here.
    files.delete('node_modules/.bin/node');
    expect([...files].filter((file) => !isCopied(file) || !isKept(file))).toEqual([]);
  });

  it('needs production dependencies only', () => {
    const { packages } = reachOf(ENTRIES);
    expect([...packages].filter((name) => !(name in pkg.dependencies))).toEqual([]);
    expect(packages.size).toBeGreaterThan(10);
  });

  it('carries no test, no environment file and no other secret of whoever builds it', () => {
    const left = ['.env', 'test/x.test.ts', 'node_modules/a', '.git/config', 'tools/demo/main.ts'];
    expect(left.filter(inContext)).toEqual([]);
  });

  it('runs as nobody in particular, downloads nothing, and names a command line', () => {
    expect(argsOf(last, 'USER')).toEqual(['1000:1000']);
    const run = argsOf(last, 'RUN').join('\n');
    expect(run).not.toMatch(/npm (ci|install|i)\b|npx -|curl|wget|\bapt(-get)? /);
    expect(run).toContain('ln -s /app/src/cli/launcher.mjs /usr/local/bin/wagergate');
    expect(statSync(join(ROOT, 'src/cli/launcher.mjs')).mode & 0o111).toBe(0o111);
    expect(argsOf(last, 'CMD')).toEqual(['["node", "src/main.ts"]']);
    for (const install of stages.slice(0, -1).flatMap((stage) => argsOf(stage, 'RUN'))) {
      if (install.includes('npm ')) expect(install).toContain('--ignore-scripts');
    }
  });

  it('is labelled as OCI wants it', () => {
    const labels = argsOf(last, 'LABEL').join(' ');
    for (const name of ['title', 'description', 'licenses', 'version', 'revision', 'created']) {
      expect(labels).toContain(`org.opencontainers.image.${name}=`);
    }
    expect(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).toContain(`ARG VERSION=${pkg.version}`);
  });

  it.for([
    [200, 0],
    [503, 1],
  ] as const)('is healthy by the readiness probe: %i exits %i', async ([status, code]) => {
    const asked: (string | undefined)[] = [];
    const probe = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(status).end('{}');
    });
    const port = await listenOn(probe, 0);
    expect(await runToEnd(healthCommand(), { ADMIN_PORT: String(port) })).toBe(code);
    expect(asked).toEqual(['/health/ready']);
    await stopListening(probe);
    expect(await runToEnd(healthCommand(), { ADMIN_PORT: String(port) })).toBe(1);
  });
});

/** The words of `HEALTHCHECK … CMD [...]`. */
function healthCommand(): readonly string[] {
  const [text = ''] = argsOf(last ?? { base: '', alias: '', instructions: [] }, 'HEALTHCHECK');
  const words: unknown = JSON.parse(text.slice(text.indexOf('CMD') + 3));
  if (!Array.isArray(words)) throw new Error('HEALTHCHECK has no exec form');
  return words.map(String);
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
