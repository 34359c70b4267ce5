import { readFile } from 'node:fs/promises';

const PAGE_BYTES = 4_096;
const KIB = 1_024;

/** The resident memory of a process; undefined if the system does not report it (not Linux). */
export async function residentBytes(pid: number): Promise<number | undefined> {
  const statm = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => undefined);
  const pages = statm?.split(' ')[1];
  return pages === undefined ? undefined : Number(pages) * PAGE_BYTES;
}

/** The peak since the process began; no moment is missed. */
export async function residentBytesMax(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => undefined);
  const kib = status?.match(/^VmHWM:\s+(\d+) kB$/m)?.[1];
  return kib === undefined ? undefined : Number(kib) * KIB;
}
