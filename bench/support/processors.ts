import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';

/** The processor for the measured side. */
export const MEASURED_ON = 0;
/** The processor for everything else: databases, wallets, load generators. */
export const REST_ON = 1;

/**
 * Puts a process, its threads and its future children onto one processor.
 * @returns false if that is impossible: no second processor, no `taskset`
 */
export async function pin(pid: number, processor: number): Promise<boolean> {
  // Not `availableParallelism`, which counts only those that this process may still use.
  return cpus().length > 1 && (await runs('taskset', ['-acp', String(processor), `${pid}`]));
}

/** Lets a process use all processors again. */
export async function unpin(processors: number, pid: number): Promise<void> {
  await runs('taskset', ['-acp', `0-${processors - 1}`, String(pid)]);
}

/** Whether a program exists and succeeds. */
export async function runs(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await promisify(execFile)(program, [...args]);
    return true;
  } catch {
    // Missing or not allowed: the caller goes on without it, and says so in its result.
    return false;
  }
}
