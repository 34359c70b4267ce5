import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Both of the process and of the machine. */
const EXHAUSTED: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

/**
 * Whether this process can still open a connection, to a wallet or from the service. At the limit of open
 * files the system rejects callers without notifying the process.
 */
export async function hasDescriptors(): Promise<boolean> {
  try {
    await using _file = await open('/dev/null');
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && EXHAUSTED.has(error.code));
  }
}

/**
 * How many files and connections this process may have open at once: its soft limit, which Node
 * raises to the hard one when it starts.
 *
 * @param limitsFile default: this process's
 * @returns `Infinity` if there is no limit, or if the system does not tell (it is not Linux)
 */
export function openFilesMax(limitsFile = '/proc/self/limits'): number {
  let limits: string;
  try {
    limits = readFileSync(limitsFile, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Infinity;
    throw error;
  }
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? Infinity : Number(soft);
}
