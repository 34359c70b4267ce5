import { readFile } from 'node:fs/promises';

const MS_PER_TICK = 10;
/** Fields after the command's name: state is the first, so utime is the 12th and stime the 13th. */
const UTIME = 11;
const STIME = 12;

/** The processor time that a process has used so far; undefined if the system does not report it (not Linux). */
export async function cpuTimeMs(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined) return undefined;
  return (Number(fields[UTIME]) + Number(fields[STIME])) * MS_PER_TICK;
}
