import { open } from 'node:fs/promises';

/** Both of the process and of the machine. */
const EXHAUSTED: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE']);

/**
 * Whether this process can still open a connection, towards a wallet or from the service. At its
 * limit of open files the system turns callers away without a word to the process.
 */
export async function hasDescriptors(): Promise<boolean> {
  try {
    await using _file = await open('/dev/null');
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && EXHAUSTED.has(error.code));
  }
}
