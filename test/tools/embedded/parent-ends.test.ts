import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { isAlive, useOwnTemporaryFolder } from './support/scratch.ts';

const PARENT = fileURLToPath(new URL('./support/parent.ts', import.meta.url));
const temporary = useOwnTemporaryFolder();

let parent: ChildProcess | undefined;
afterEach(() => {
  parent?.kill('SIGKILL');
});

/** Starts a parent with a server; resolves with the server's pid. */
async function parentOf(what: 'postgres' | 'redis', leave = ''): Promise<number> {
  const child = spawn(process.execPath, [PARENT, what, leave], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  parent = child;
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line');
  const told: unknown = JSON.parse(String(line));
  if (typeof told !== 'object' || told === null || !('pid' in told)) throw new Error(String(line));
  return Number(told.pid);
}

async function expectNothingLeft(pid: number): Promise<void> {
  await vi.waitFor(
    async () => {
      expect(isAlive(pid)).toBe(false);
      expect(await temporary.leftovers()).toEqual([]);
    },
    { timeout: 10_000, interval: 20 },
  );
}

describe('a server whose parent ends', () => {
  it('goes with its folder when the parent is killed (PostgreSQL)', async () => {
    const pid = await parentOf('postgres');
    expect(isAlive(pid)).toBe(true);
    parent?.kill('SIGKILL');
    await expectNothingLeft(pid);
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'goes with its folder when the parent gets %s (Redis)',
    async (signal) => {
      const pid = await parentOf('redis');
      expect(isAlive(pid)).toBe(true);
      parent?.kill(signal);
      await expectNothingLeft(pid);
    },
  );

  it.each(['exit'])('goes with its folder when the parent does %s (Redis)', async (how) => {
    await expectNothingLeft(await parentOf('redis', how));
  });

  it('goes with its folder when the parent is killed while it starts', async () => {
    const starting = spawn(process.execPath, [PARENT, 'postgres'], { stdio: 'ignore' });
    parent = starting;
    await vi.waitFor(async () => expect(await temporary.leftovers()).toHaveLength(1), {
      timeout: 10_000,
      interval: 5,
    });
    starting.kill('SIGKILL');
    await vi.waitFor(async () => expect(await temporary.leftovers()).toEqual([]), {
      timeout: 10_000,
      interval: 20,
    });
  });
});
