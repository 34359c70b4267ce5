import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { COMPILED } from '../support/compiled.ts';
import { createBareDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway } from '../support/processes.ts';
import { onServer } from '../support/server.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';

/** From the spawn to after the start, on a quiet machine; on a busy one, all of them are during the start. */
const MOMENTS_MS = [0, 40, 80, 130, 180, 240, 300, 400, 550, 700, 900, 1_200];
/** Only that no signal is lost is tested here; `npm run image` requires a second, one process at a time. */
const STOPPED_MS = 10_000;
const ENTRY_POINT = fileURLToPath(new URL('../../src/entry-point.sh', import.meta.url));

describe('SIGTERM while the gateway starts', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  /** In its first moments Node itself has no handler yet, and nothing has begun. */
  const ended = (exit: unknown) =>
    expect([
      { code: 0, signal: null },
      { code: null, signal: 'SIGTERM' },
    ]).toContainEqual(exit);

  it.each(['1', '2'])(
    'ends it at any moment, with WORKERS=%s',
    async (WORKERS) => {
      for (const moments of inGroupsOf(4, MOMENTS_MS)) {
        await Promise.all(
          moments.map(async (afterMs) => {
            const gateway = await startGateway({ env: { ...deployment.env, WORKERS } });
            await passed(afterMs);
            const sentAtMs = performance.now();
            ended(await gateway.stop());
            expect(performance.now() - sentAtMs).toBeLessThan(STOPPED_MS);
            expect(gateway.stderr()).toBe('');
          }),
        );
      }
    },
    60_000,
  );

  it('ends it with 0 at any moment behind the entry point of the image', async () => {
    for (const moments of inGroupsOf(4, MOMENTS_MS)) {
      await Promise.all(
        moments.map(async (afterMs) => {
          const { exited, stop } = await throughEntryPoint([], deployment.env);
          await passed(afterMs);
          stop();
          // In its very first millisecond the shell has no traps either.
          if (afterMs === 0) ended(await exited);
          else expect(await exited).toEqual({ code: 0, signal: null });
        }),
      );
    }
  }, 240_000);
});

describe('the entry point of the image', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createBareDatabase();
  });
  afterAll(() => database.drop());

  it.each([['migrate'], ['wagergate migrate']])('runs the command line: %s', async (line) => {
    const { exited, stdout } = await throughEntryPoint(line.split(' '), {
      DATABASE_URL: database.url,
    });
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(stdout()).toMatch(/applied|up to date/);
  });

  it('hands on what comes by standard input, and the exit code', async () => {
    const signed = await throughEntryPoint(['sign', '--secret', 'abc', '-'], {}, '{}');
    expect(await signed.exited).toEqual({ code: 0, signal: null });
    expect(signed.stdout()).toMatch(/^ey/);
    const wrong = await throughEntryPoint(['nonsense'], {});
    expect(await wrong.exited).toEqual({ code: 2, signal: null });
  });

  it('runs a shell where one is asked for', async () => {
    const shell = await throughEntryPoint(['sh', '-c', 'echo $0 is here'], {});
    expect(await shell.exited).toEqual({ code: 0, signal: null });
    expect(shell.stdout()).toBe('sh is here\n');
  });

  it('keeps a SIGTERM until its program has become Node: before, it is a shell, which may lose it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wagergate-forgetful-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const forgetful = `#!/bin/sh
trap : TERM
echo begun
sleep 0.5
trap - TERM
exec '${process.execPath}' -e "setTimeout(() => console.log('went on'), 5_000)"
`;
    await writeFile(join(folder, 'node'), forgetful, { mode: 0o755 });
    const { exited, stdout, stop } = await throughEntryPoint([], {}, '', folder);
    await expect.poll(stdout).toBe('begun\n');
    stop();
    expect(await exited).toEqual({ code: 0, signal: null });
    expect(stdout()).toBe('begun\n');
  });

  it('ends a migration that waits, and leaves no lock behind', async () => {
    await onServer(database.url, async (client) => {
      await client.query('SELECT pg_advisory_lock(72707369)');
      const waiting = await throughEntryPoint(['migrate'], { DATABASE_URL: database.url });
      await expect.poll(() => waiting.stdout(), { timeout: 10_000 }).toContain('waiting for it');
      waiting.stop();
      expect(await waiting.exited).toEqual({ code: 143, signal: null });
      const others = `SELECT count(*)::int AS others FROM pg_locks
        WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await expect
        .poll(async () => (await client.query(others)).rows, { timeout: 10_000 })
        .toEqual([{ others: 0 }]);
    });
  });
});

/** As process 1 of a container. It finds Node in a folder, by default in that of this test. */
async function throughEntryPoint(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin = '',
  node = dirname(process.execPath),
) {
  const child = spawn(ENTRY_POINT, args, {
    env: { ...COMPILED, ...env, PATH: `${node}:${process.env.PATH}` },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
  // A command that does not read its input may have ended before this is written.
  child.stdin.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  child.stdin.end(stdin);
  const exited = once(child, 'close').then(([code, signal]: unknown[]) => ({ code, signal }));
  // As soon as the command exists, the shell and its traps do as well.
  await once(child, 'spawn');
  return { exited, stdout: () => printed, stop: () => child.kill('SIGTERM') };
}

function passed(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function inGroupsOf<T>(size: number, all: readonly T[]): readonly T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
