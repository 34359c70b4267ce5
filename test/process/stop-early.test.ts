import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { COMPILED } from '../support/compiled.ts';
import { createBareDatabase, type TestDatabase } from '../support/database.ts';
import { onServer } from '../support/server.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';

/** From the first to after the start; whatever the moment is, the end is the same. */
const MOMENTS_MS = { 1: [0, 150, 400, 900], 2: [300, 900] };
const ENTRY_POINT = fileURLToPath(new URL('../../src/entry-point.sh', import.meta.url));

describe('SIGTERM while the gateway starts', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  it.each([1, 2] as const)(
    'ends it with 0 at any moment, behind the entry point of the image, with WORKERS=%s',
    async (workers) => {
      const exits = MOMENTS_MS[workers].map(async (afterMs) => {
        const env = { ...deployment.env, WORKERS: `${workers}` };
        const { exited, pid, stop } = await throughEntryPoint([], env);
        // In its very first millisecond the shell has no traps either.
        await expect.poll(() => handlesSigterm(pid)).toBe(true);
        await sleep(afterMs);
        stop();
        return await exited;
      });
      for (const exit of await Promise.all(exits)) expect(exit).toEqual({ code: 0, signal: null });
    },
    120_000,
  );
});

describe('the entry point of the image', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createBareDatabase();
  });
  afterAll(() => database.drop());

  it('hands on what comes by standard input, and the exit code', async () => {
    const signed = await throughEntryPoint(['sign', '--secret', 'abc', '-'], {}, '{}');
    expect(await signed.exited).toEqual({ code: 0, signal: null });
    expect(signed.stdout()).toMatch(/^ey/);
    const wrong = await throughEntryPoint(['nonsense'], {});
    expect(await wrong.exited).toEqual({ code: 2, signal: null });
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
      await expect.poll(() => waiting.stdout()).toContain('waiting for it');
      waiting.stop();
      expect(await waiting.exited).toEqual({ code: 143, signal: null });
      const others = `SELECT count(*)::int AS others FROM pg_locks
        WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await expect.poll(async () => (await client.query(others)).rows).toEqual([{ others: 0 }]);
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
  const { pid } = child;
  return { exited, pid, stdout: () => printed, stop: () => child.kill('SIGTERM') };
}

/** Whether the process has a handler for SIGTERM, signal 15, as Linux says. */
async function handlesSigterm(pid: number | undefined): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const caught = /^SigCgt:\t([0-9a-f]+)$/m.exec(status)?.[1] ?? '0';
  return (BigInt(`0x${caught}`) & (1n << 14n)) !== 0n;
}
