import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { insertBacklog } from '../test/deliveries/support/backlog.ts';
import { openScene, type Scene } from './deliveries/scene.ts';
import { cpuTimeMs } from './support/cpu-time.ts';
import { profileReport } from './support/profile.ts';

const BACKLOG = 20_000;

export async function runDeliveries(args: readonly string[]): Promise<number> {
  const profile = args.includes('--profile');
  await using scene = await openScene();
  await drainBacklog(scene, profile);
  return 0;
}

async function fill(
  scene: Scene,
  operatorId: string,
  prefix: string,
  count: number,
  state?: 'delivered',
) {
  const client = new Client({ connectionString: scene.databaseUrl });
  await client.connect();
  try {
    const players = await scene.players(operatorId);
    const each = Math.ceil(count / players.length);
    for (const [n, { owner, sessionId }] of players.entries()) {
      await insertBacklog(client, {
        ...owner,
        sessionId,
        prefix: `${prefix}-${n}`,
        count: each,
        ...(state === undefined ? {} : { state }),
      });
    }
    await client.query('ANALYZE');
  } finally {
    await client.end();
  }
}

async function drainBacklog(scene: Scene, profile: boolean): Promise<void> {
  await fill(scene, 'alpha', 'warm', 2_000);
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-profile-'));
  const flags = () =>
    profile ? ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-name=worker.cpuprofile'] : [];
  await using worker = await scene.startWorker(flags);
  await untilDrained(scene);
  await worker.stop();
  await fill(scene, 'alpha', 'backlog', BACKLOG);
  await using measured = await scene.startWorker(flags);
  await untilDrained(scene);
  const cpu = await cpuTimeMs(measured.pid);
  const [row] = await scene.database.query<{
    n: number;
    ms: number;
    from_ms: number;
    to_ms: number;
  }>(
    {
      name: 'rate',
      text: `SELECT count(*)::int AS n, extract(epoch FROM max(d.settled_at) - min(a.started_at))::float8 * 1000 AS ms,
       extract(epoch FROM min(a.started_at))::float8*1000 AS from_ms, extract(epoch FROM max(d.settled_at))::float8*1000 AS to_ms
        FROM deliveries d JOIN attempts a USING (operation_id) WHERE d.transaction_id LIKE 'backlog%'`,
    },
    [],
  );
  if (row === undefined) throw new Error('nothing drained');
  console.log(
    `drained ${row.n} in ${Math.round(row.ms)} ms: ${Math.round((1000 * row.n) / row.ms)}/s; cpu ${cpu} ms`,
  );
  await measured.stop();
  if (profile) {
    const offset = Number(process.hrtime.bigint()) / 1e6 - Date.now();
    console.log(
      await profileReport(join(folder, 'worker.cpuprofile'), {
        fromMs: row.from_ms + offset,
        toMs: row.to_ms + offset,
      }),
    );
    await readFile(join(folder, 'worker.cpuprofile'));
  }
  await rm(folder, { recursive: true, force: true });
}

async function untilDrained(scene: Scene): Promise<void> {
  for (;;) {
    const [row] = await scene.database.query<{ n: number }>(
      {
        name: 'left',
        text: `SELECT count(*)::int AS n FROM deliveries WHERE state = 'pending' AND operator_id = 'alpha'`,
      },
      [],
    );
    if (row?.n === 0) return;
    await sleep(200);
  }
}
