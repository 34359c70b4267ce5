import cluster from 'node:cluster';
import { freezeDeep } from './config/freeze.ts';
import type { ConfigurationSource } from './config/source.ts';
import { hasDescriptors } from './http/descriptors.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { snapshotOf } from './telemetry/snapshot.ts';
import {
  ALIVE,
  ASK_PARENT,
  answerParent,
  isKnownMessage,
  type KnownAtParent,
} from './worker-talk.ts';

/** How often a worker process looks whether it can still open a file. */
const DESCRIPTORS_MS = 1_000;
const ALIVE_MS = 1_000;

/** What is in force at this process's parent, which outlives files that are broken by now, and its database. */
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

/** Says why this process cannot start. Its parent repeats it, once for all that cannot. */
export async function tellWhyNotStarted(why: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Where the parent has gone, it has said so itself.
  process.send?.({ cannotStart: why }, undefined, undefined, () => resolve());
  await promise;
}

/**
 * The parent may go while something is being sent to it. Node ends the process when it notices; what could not be
 * sent is no crash of its own.
 */
export function endWithParent(): void {
  cluster.worker?.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'ERR_IPC_CHANNEL_CLOSED') throw error;
  });
}

/** Says all the time that this process works: one that says nothing hangs. */
export function tellOfLife(): void {
  process.send?.(ALIVE);
  setInterval(() => process.send?.(ALIVE), ALIVE_MS).unref();
}

/**
 * Answers the parent's questions for metrics, and reads the configuration when it is asked to.
 * @param source may only be beginning: what is asked before is answered then
 */
export function answerQuestions(metrics: Metrics, source: Promise<ConfigurationSource>): void {
  answerParent({
    metrics: async () => snapshotOf(await metrics.families()),
    reload: async () => {
      try {
        return (await (await source).reload()).problems;
      } catch (error) {
        // The parent logs and tells it, as it does with what is wrong in the files.
        const why = error instanceof Error ? error.message : String(error);
        const reason = `could not read the files: ${why}`;
        return [{ file: `worker process ${process.pid}`, path: '', reason }];
      }
    },
  });
}

/** Tells the parent, which answers for its readiness, when this process can open no file. */
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
