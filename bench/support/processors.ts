import { execFile } from 'node:child_process';
import { cpus } from 'node:os';
import { promisify } from 'node:util';

/** For what is measured. */
export const MEASURED_ON = 0;
/** For all the rest: databases, wallets, who sends. */
export const REST_ON = 1;

/**
 * Puts a process, its threads and what they start from now on onto one processor.
 * @returns false where that cannot be done: no second processor, no `taskset`
 */
export async function pin(pid: number, processor: number): Promise<boolean> {
  // Not `availableParallelism`, which counts those that this very process may still use.
  return cpus().length > 1 && (await runs('taskset', ['-acp', String(processor), `${pid}`]));
}

/** Gives a process all of so many processors back. */
export async function unpin(processors: number, pid: number): Promise<void> {
  await runs('taskset', ['-acp', `0-${processors - 1}`, String(pid)]);
}

/** Whether a program is there and ends well. */
export async function runs(program: string, args: readonly string[]): Promise<boolean> {
  try {
    await promisify(execFile)(program, [...args]);
    return true;
  } catch {
    // Not there or not allowed: the caller does without it, and says so in its result.
    return false;
  }
}
