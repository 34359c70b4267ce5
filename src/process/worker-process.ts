import cluster from 'node:cluster';
import { freezeDeep } from '../config/freeze.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { hasDescriptors } from '../http/descriptors.ts';
import { errorMessage } from '../lib/faults.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { snapshotOf } from '../telemetry/snapshot.ts';
import {
  ALIVE,
  ASK_PARENT,
  answerParent,
  isKnownMessage,
  type KnownAtParent,
} from './worker-talk.ts';

/** How often a worker process checks whether it can still open a file. */
const DESCRIPTORS_MS = 1_000;
const ALIVE_MS = 1_000;

/** The parent's configuration in force, which is valid even if the files are broken by now, and its database. */
export async function knownAtParent(): Promise<KnownAtParent> {
  const { promise, resolve } = Promise.withResolvers<KnownAtParent>();
  const hear = (message: unknown) => {
    if (isKnownMessage(message)) resolve(freezeDeep(message));
  };
  process.on('message', hear);
  process.send?.(ASK_PARENT);
  try {
    return await promise;
  } finally {
    process.off('message', hear);
  }
}

/** Tells the parent why this process cannot start. The parent prints it once, however many cannot. */
export async function tellWhyNotStarted(why: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // If the parent has gone, it has said why itself.
  process.send?.({ cannotStart: why }, undefined, undefined, () => resolve());
  await promise;
}

/**
 * The parent may end while this process is sending to it. Node ends the process when it notices; the failed send must
 * not count as a crash of this process.
 */
export function endWithParent(): void {
  cluster.worker?.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_IPC_CHANNEL_CLOSED') throw error;
  });
}

/** Reports every second that this process works: the parent kills one that stays silent. */
export function tellOfLife(): void {
  process.send?.(ALIVE);
  setInterval(() => process.send?.(ALIVE), ALIVE_MS).unref();
}

/**
 * Answers the parent's questions for metrics, and reloads the configuration when asked to.
 * @param source may not be ready yet: a reload that is asked for earlier waits for it
 */
export function answerQuestions(metrics: Metrics, source: Promise<ConfigurationSource>): void {
  answerParent({
    metrics: async () => snapshotOf(await metrics.families()),
    reload: async () => {
      try {
        return (await (await source).reload()).problems;
      } catch (error) {
        // The parent logs and reports it like the problems in the files.
        const why = errorMessage(error);
        const reason = `could not read the files: ${why}`;
        return [{ file: `worker process ${process.pid}`, path: '', reason }];
      }
    },
  });
}

/** Tells the parent, whose readiness covers this process, whenever it can no longer, or again, open a file. */
export function tellOfDescriptors(): void {
  let told = true;
  const look = async () => {
    const has = await hasDescriptors();
    if (has === told) return;
    told = has;
    process.send?.({ hasDescriptors: has });
  };
  setInterval(() => void look(), DESCRIPTORS_MS).unref();
}
