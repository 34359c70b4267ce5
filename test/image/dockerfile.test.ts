import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import pkg from '../../package.json' with { type: 'json' };
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import {
  argsOf,
  contextFilter,
  copiesOf,
  ROOT,
  readStages,
  type Stage,
} from './support/dockerfile.ts';
import { reachOf } from './support/imports.ts';
import { runToEnd } from './support/run.ts';

const stages = readStages();
const last = stages.at(-1);
if (last === undefined) throw new Error('the Dockerfile has no stage');
const inContext = contextFilter();

/** Everything that people start in the image. */
const ENTRIES = [
  'src/entry-point.sh',
  'src/main.ts',
  'src/health-check.ts',
  'src/cli/launcher.mjs',
  'src/cli/wagergate.ts',
];

describe('the image', () => {
  it('is built on the Node that the package asks for', () => {
    const major = pkg.engines.node.replace(/\D+/g, '');
    const { length } = stages;
    const bases = [...new Array<string>(length - 1).fill(`node:${major}-slim`), 'scratch'];
    expect(stages.map(({ base }) => base)).toEqual(bases);
  });

  it('copies only what exists, in the build context or in an earlier stage', () => {
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
    const copied = copiesOf(stageNamed('build')).flatMap(({ from, sources }) =>
      from === undefined ? sources.map(withoutSlash) : [],
    );
    expect(copiesOf(last)).toContainEqual({ from: 'build', sources: ['/app'], target: './' });
    const isCopied = (file: string) =>
      copied.some((source) => file === source || file.startsWith(`${source}/`));
    const isKept = (file: string) => inContext(file) || file.startsWith('src/store/prisma-client/');
    const files = new Set(reachOf(ENTRIES).files);
    expect(files.size).toBeGreaterThan(100);
    // The launcher's fallback for a Node that is too old, which the image does not need.
    files.delete('node_modules/.bin/node');
    // The console's pages are built in the image.
    files.delete('dist/console');
    expect(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).toContain(
      'mv /build/dist/console dist/',
    );
    expect([...files].filter((file) => !isCopied(file) || !isKept(file))).toEqual([]);
  });

  it('needs production dependencies only', () => {
    const { packages } = reachOf(ENTRIES);
    expect([...packages].filter((name) => !(name in pkg.dependencies))).toEqual([]);
    expect(packages.size).toBeGreaterThan(10);
  });

  it('contains no test, no environment file and no other secret of its builder', () => {
    const left = ['.env', 'test/x.test.ts', 'node_modules/a', '.git/config', 'tools/demo/main.ts'];
    expect(left.filter(inContext)).toEqual([]);
  });

  it('runs as an unprivileged user, downloads nothing, and names a command line', () => {
    expect(argsOf(last, 'USER')).toEqual(['1000:1000']);
    expect(argsOf(last, 'RUN')).toEqual([]);
    const system = readFileSync(join(ROOT, 'scripts/gather-system.sh'), 'utf8');
    expect(system).toContain('ln -s /app/src/cli/launcher.mjs "$root/usr/local/bin/wagergate"');
    expect(argsOf(last, 'ENTRYPOINT')).toEqual(['["/app/src/entry-point.sh"]']);
    expect(argsOf(last, 'CMD')).toEqual([]);
    for (const file of ['src/cli/launcher.mjs', 'src/entry-point.sh']) {
      expect(statSync(join(ROOT, file)).mode & 0o111).toBe(0o111);
    }
    for (const install of stages.slice(0, -1).flatMap((stage) => argsOf(stage, 'RUN'))) {
      if (install.includes('npm ')) expect(install).toContain('--ignore-scripts');
    }
  });

  it('can be read by its user, whatever the umask of the checkout was', () => {
    expect(argsOf(stageNamed('build'), 'RUN').join('\n')).toContain('chmod -R u=rwX,go=rX .');
    expect(copiesOf(last).map(({ from }) => from)).not.toContain(undefined);
  });

  it('puts what differs with every release behind all that does not', () => {
    const names = last.instructions.map(({ name }) => name);
    expect(names.indexOf('ARG')).toBeGreaterThan(names.lastIndexOf('COPY'));
    expect(names.slice(names.indexOf('ARG'))).toEqual(['ARG', 'ARG', 'ARG', 'LABEL']);
  });

  it('is labelled as OCI wants it', () => {
    const labels = argsOf(last, 'LABEL').join(' ');
    for (const name of ['title', 'description', 'licenses', 'version', 'revision', 'created']) {
      expect(labels).toContain(`org.opencontainers.image.${name}=`);
    }
    expect(readFileSync(join(ROOT, 'Dockerfile'), 'utf8')).toContain(`ARG VERSION=${pkg.version}`);
  });

  it.for([
    [200, '127.0.0.1', 0],
    [200, '0.0.0.0', 0],
    [503, '127.0.0.1', 1],
  ] as const)('is healthy while it is alive: %i on %s exits %i', async ([status, host, code]) => {
    const asked: (string | undefined)[] = [];
    const probe = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(status).end('{}');
    });
    const port = await listenOn(probe, 0);
    const env = { ADMIN_HOST: host, ADMIN_PORT: String(port) };
    expect(await runToEnd(healthCommand(), env)).toBe(code);
    expect(asked).toEqual(['/health/live']);
    await stopListening(probe);
    expect(await runToEnd(healthCommand(), env)).toBe(1);
  });
});

function stageNamed(name: string): Stage {
  const found = stages.find(({ alias }) => alias === name);
  if (found === undefined) throw new Error(`the Dockerfile has no stage ${name}`);
  return found;
}

/** The words of `HEALTHCHECK … CMD [...]`. */
function healthCommand(): readonly string[] {
  const [text = ''] = argsOf(last ?? { base: '', alias: '', instructions: [] }, 'HEALTHCHECK');
  const words: unknown = JSON.parse(text.slice(text.indexOf('CMD') + 3));
  if (!Array.isArray(words)) throw new Error('HEALTHCHECK has no exec form');
  return words.map((word) => String(word).replace(/^\/app\//, `${ROOT}/`));
}

function withoutSlash(path: string): string {
  return path.replace(/\/$/, '');
}
