import { setTimeout as sleep } from 'node:timers/promises';
import { residentBytes } from '../support/memory.ts';
import type { Scene } from './scene.ts';

export interface MemoryResult {
  readonly waiting: number;
  /** Resident memory before any delivery was there; undefined if the system does not report it. */
  readonly beforeBytes: number | undefined;
  /** The highest value while they waited. */
  readonly maxBytes: number | undefined;
  readonly watchedMs: number;
}

const SETTLE_MS = 5_000;
const WATCH_MS = 15_000;
const SAMPLE_MS = 500;

/** How much memory a worker needs while this many deliveries wait for an operator that is held. */
export async function watchMemory(scene: Scene, waiting: number): Promise<MemoryResult> {
  await using worker = await scene.startWorker();
  await sleep(SETTLE_MS);
  const beforeBytes = await residentBytes(worker.pid);
  await scene.fill('held', 'held', waiting);
  const samples: number[] = [];
  const endsAtMs = performance.now() + WATCH_MS;
  while (performance.now() < endsAtMs) {
    await sleep(SAMPLE_MS);
    samples.push((await residentBytes(worker.pid)) ?? Number.NaN);
  }
  await worker.stop();
  const maxBytes = beforeBytes === undefined ? undefined : Math.max(...samples);
  return { waiting, beforeBytes, maxBytes, watchedMs: WATCH_MS };
}

export function memoryLine({ waiting, beforeBytes, maxBytes }: MemoryResult): string {
  if (beforeBytes === undefined || maxBytes === undefined) {
    return `${waiting} waiting: this system does not tell how much memory a process has`;
  }
  const before = megabytes(beforeBytes);
  return `${waiting} waiting: ${before} MB resident before, at most ${megabytes(maxBytes)} MB while they wait`;
}

function megabytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(0);
}
