import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from '../support/child.ts';
import { cpuTimeMs } from '../support/cpu-time.ts';
import { profileReport } from '../support/profile.ts';
import type { Scene } from './scene.ts';

export interface DrainResult {
  readonly delivered: number;
  readonly elapsedMs: number;
  readonly perSecond: number;
  /** Processor time of the worker from its start to the last delivery, if the system reports it. */
  readonly cpuUsPerDelivery: number | undefined;
  readonly callP50Ms: number;
  readonly callP99Ms: number;
  /** Deliveries that never reached the wallet, or reached it more than once. */
  readonly mistakes: readonly string[];
}

const WARM_UP = 2_000;
const POLL_MS = 200;
const PROFILE = 'worker.cpuprofile';

/** Drains a backlog of one operator with one worker process. */
export async function drainBacklog(
  scene: Scene,
  { backlog, profile }: { readonly backlog: number; readonly profile: boolean },
): Promise<DrainResult> {
  await scene.fill('warm', WARM_UP);
  const flags = (folder: string) =>
    profile ? ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${PROFILE}`] : [];
  await using worker = await scene.startWorker(flags);
  await untilDrained(scene);

  await scene.fill('backlog', backlog);
  const cpuBeforeMs = await cpuTimeMs(worker.pid);
  await untilDrained(scene);
  const cpuAfterMs = await cpuTimeMs(worker.pid);
  const [figures] = await scene.query<Figures>(FIGURES);
  if (figures === undefined) throw new Error('nothing was drained');
  await worker.stop();
  if (profile) await tellProfile(worker, figures);

  const { delivered, elapsed_ms: elapsedMs } = figures;
  const cpuMs =
    cpuBeforeMs === undefined || cpuAfterMs === undefined ? undefined : cpuAfterMs - cpuBeforeMs;
  return {
    delivered,
    elapsedMs: Math.round(elapsedMs),
    perSecond: Math.round((1000 * delivered) / elapsedMs),
    cpuUsPerDelivery: cpuMs === undefined ? undefined : Math.round((1000 * cpuMs) / delivered),
    callP50Ms: figures.p50_ms,
    callP99Ms: figures.p99_ms,
    mistakes: await findMistakes(scene, delivered),
  };
}

export function drainLine(result: Omit<DrainResult, 'mistakes'>): string {
  const cpu =
    result.cpuUsPerDelivery === undefined ? '' : `, CPU ${result.cpuUsPerDelivery} us each`;
  const calls = `calls p50 ${result.callP50Ms} ms, p99 ${result.callP99Ms} ms`;
  return `drained ${result.delivered}: ${result.perSecond}/s${cpu}, ${calls}`;
}

interface Figures {
  readonly delivered: number;
  readonly elapsed_ms: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly from_ms: number;
}

/** From the first call to the last committed outcome. */
const FIGURES = `
  SELECT count(*)::int AS delivered,
         extract(epoch FROM max(d.settled_at) - min(a.started_at))::float8 * 1000 AS elapsed_ms,
         extract(epoch FROM min(a.started_at))::float8 * 1000 AS from_ms,
         percentile_disc(0.5) WITHIN GROUP (ORDER BY a.latency_ms)::int AS p50_ms,
         percentile_disc(0.99) WITHIN GROUP (ORDER BY a.latency_ms)::int AS p99_ms
    FROM deliveries d JOIN attempts a ON a.operation_id = d.operation_id
   WHERE d.transaction_id LIKE 'backlog-%' AND d.state = 'delivered'`;

async function untilDrained(scene: Scene): Promise<void> {
  const isOpen = `SELECT 1 FROM deliveries
                   WHERE operator_id = 'alpha' AND state IN ('live', 'pending') LIMIT 1`;
  while ((await scene.query(isOpen)).length > 0) await sleep(POLL_MS);
}

/** Asks the wallet itself which deliveries it received. */
async function findMistakes(scene: Scene, delivered: number): Promise<readonly string[]> {
  const seen = await (await fetch(`${scene.walletUrl}/?backlog-`)).text();
  const counts = seen
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '));
  const doubled = counts.filter(([, count]) => count !== '1').map(([id]) => `${id} came twice`);
  return counts.length === delivered
    ? doubled
    : [...doubled, `${counts.length} reached the wallet, ${delivered} are delivered`];
}

async function tellProfile(worker: Child, { from_ms, elapsed_ms }: Figures): Promise<void> {
  // Profiles use the monotonic clock, rows the wall clock.
  const fromMs = from_ms + Number(process.hrtime.bigint()) / 1e6 - Date.now();
  const window = { fromMs, toMs: fromMs + elapsed_ms };
  console.log(await profileReport(join(worker.folder, PROFILE), window));
}
