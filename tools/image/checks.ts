import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { EmbeddedServer } from '../embedded/server.ts';
import { Container, type Env, type Exit, type Image } from './container.ts';

/** What the image promises on a quiet machine. */
export const PROMISED = { bytes: 200e6, readyMs: 1_500, stoppedMs: 1_000 } as const;
/** A shared machine slows it down, so the image is judged by its best try. */
const TRIES = 3;
/** The factor by which everything may take longer on a busy machine. */
const BUSY_FACTOR = 6;
/** Points between the start of the container and some time after the gateway's start. */
const MOMENTS_MS = [0, 15, 30, 60, 100, 150, 200, 300, 400, 500, 650, 800, 1_000, 1_300];

export interface Scene {
  readonly image: Image;
  readonly folder: string;
  readonly postgres: EmbeddedServer;
  readonly redis: EmbeddedServer;
  /** The variables that `docker run --env` would set. */
  readonly env: Env;
  readonly publicUrl: string;
  readonly adminUrl: string;
}

/** Resolves to what was found; rejects if a promise is broken. */
export type Check = (scene: Scene) => Promise<string>;

/** In this order: the first check migrates the database. */
export const CHECKS: Readonly<Record<string, Check>> = {
  migrates: async (scene) => {
    const first = await (await start(scene, ['migrate'])).ended();
    expectCode(first, 0, 'migrate');
    const again = await start(scene, ['wagergate', 'migrate']);
    expectCode(await again.ended(), 0, 'wagergate migrate');
    if (!again.output.includes('up to date')) throw new Error(again.output);
    return `in ${ms(first.tookMs)}, and knows it`;
  },

  'ends a waiting migration': async (scene) => {
    const client = new Client({ connectionString: scene.postgres.url });
    await client.connect();
    try {
      await client.query('SELECT pg_advisory_lock(72707369)');
      const waiting = await start(scene, ['migrate']);
      await until(() => waiting.output.includes('waiting for it'));
      const exit = await waiting.stop();
      expectCode(exit, 143, 'migrate');
      return `in ${ms(exit.tookMs)}`;
    } finally {
      await client.end();
    }
  },

  'becomes ready, answers, stops': async (scene) => {
    const seen = [];
    for (let round = 0; round < TRIES; round += 1) {
      const gateway = await start(scene);
      await until(() => statusOf(`${scene.adminUrl}/health/ready`, 200));
      const readyMs = gateway.ageMs;
      const answer = await fetch(`${scene.publicUrl}/user/balance`, { method: 'POST', body: '{}' });
      const text = await answer.text();
      if (answer.status !== 400 || !text.includes('"code":1')) throw new Error(text);
      const exit = await gateway.stop();
      expectCode(exit, 0, 'the gateway');
      seen.push({ readyMs, stoppedMs: exit.tookMs });
    }
    const readyMs = best(seen.map((each) => each.readyMs));
    const stoppedMs = best(seen.map((each) => each.stoppedMs));
    expectWithin(readyMs, PROMISED.readyMs, 'ready');
    expectWithin(stoppedMs, PROMISED.stoppedMs, 'stopped');
    return `ready in ${ms(readyMs)}, stopped in ${ms(stoppedMs)}`;
  },

  'stops at any moment of its start': async (scene) => {
    const took = [];
    for (const afterMs of MOMENTS_MS) {
      const gateway = await start(scene);
      await sleep(afterMs);
      const exit = await gateway.stop();
      // In the first milliseconds the process is still runc itself.
      if (afterMs > 0) expectCode(exit, 0, `the gateway, stopped after ${afterMs} ms`);
      took.push(exit.tookMs);
    }
    const longestMs = Math.max(...took);
    expectWithin(longestMs, PROMISED.stoppedMs, 'stopped');
    return `${MOMENTS_MS.length} moments, ${ms(longestMs)} at most`;
  },

  'is unprivileged and writes nothing': async (scene) => {
    const shell = await start(scene, [
      'sh',
      '-c',
      'id -u; (: > /app/x) 2>/dev/null || echo read-only; while read -r line; do case $line in CapEff*) echo "$line";; esac; done < /proc/self/status',
    ]);
    await shell.ended();
    const [uid, disk, capabilities = ''] = shell.output.split('\n');
    if (uid !== '1000' || disk !== 'read-only' || !/\s0+$/.test(capabilities)) {
      throw new Error(shell.output);
    }
    return 'uid 1000, no capability, read-only root';
  },

  'is alive, not ready, while PostgreSQL is away': async (scene) => {
    const gateway = await start(scene);
    await until(() => statusOf(`${scene.adminUrl}/health/ready`, 200));
    await scene.postgres.kill();
    await until(() => statusOf(`${scene.adminUrl}/health/ready`, 503));
    const health = await gateway.exec(HEALTH_CHECK);
    if (health.code !== 0) throw new Error(`the health check ended with ${health.code}`);
    const exit = await gateway.stop();
    await scene.postgres.restart();
    expectCode(exit, 0, 'the gateway');
    const dead = await start(scene, HEALTH_CHECK);
    expectCode(await dead.ended(), 1, 'the health check of nothing');
    return `healthy all the while; stopped in ${ms(exit.tookMs)}`;
  },

  'runs several processes': async (scene) => {
    const gateway = await start(scene, [], { WORKERS: '2' });
    await until(() => statusOf(`${scene.adminUrl}/health/ready`, 200));
    const readyMs = gateway.ageMs;
    const exit = await gateway.stop();
    expectCode(exit, 0, 'the gateway');
    return `WORKERS=2 ready in ${ms(readyMs)}, stopped in ${ms(exit.tookMs)}`;
  },
};

const HEALTH_CHECK = ['node', '/app/src/health-check.ts'];

function start(scene: Scene, args: readonly string[] = [], more: Env = {}): Promise<Container> {
  const { image, folder, env } = scene;
  return Container.start(image, folder, { args, env: { ...env, ...more } });
}

async function statusOf(url: string, status: number): Promise<boolean> {
  // Nobody listens yet.
  const answer = await fetch(url).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === status;
}

const PATIENCE_MS = 30_000;

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const endsAtMs = performance.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (performance.now() > endsAtMs) throw new Error(`not within ${PATIENCE_MS / 1000} s`);
    await sleep(10);
  }
}

function expectCode({ code }: Exit, expected: number, what: string): void {
  if (code !== expected) throw new Error(`${what} ended with ${code}, not with ${expected}`);
}

/** A machine with more work than processors says nothing about the image's times. */
function expectWithin(tookMs: number, limitMs: number, what: string): void {
  const [load = 0] = loadavg();
  const isBusy = load > availableParallelism() + 1;
  if (tookMs > (isBusy ? BUSY_FACTOR : 1) * limitMs)
    throw new Error(`${what} after ${ms(tookMs)}, more than ${ms(limitMs)}`);
}

function best(all: readonly number[]): number {
  return Math.min(...all);
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
