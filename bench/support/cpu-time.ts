import { readdir, readFile } from 'node:fs/promises';

const MS_PER_TICK = 10;
/** Fields after the command's name, of which the state is the first. */
const PARENT = 1;
const UTIME = 11;
const STIME = 12;
/** Of children that have ended. */
const CUTIME = 13;
const CSTIME = 14;

/** The processor time that a process has used so far; undefined if the system does not report it (not Linux). */
export async function cpuTimeMs(pid: number): Promise<number | undefined> {
  const fields = await fieldsOf(String(pid));
  return fields && ticks(fields, UTIME, STIME) * MS_PER_TICK;
}

/** The same for a process and its children, also those that have ended meanwhile: a PostgreSQL server. */
export async function treeCpuTimeMs(pid: number): Promise<number | undefined> {
  const own = await fieldsOf(String(pid));
  if (own === undefined) return undefined;
  const entries = await readdir('/proc');
  const all = await Promise.all(entries.filter((name) => /^\d+$/.test(name)).map(fieldsOf));
  const children = all.flatMap((fields) => (fields?.[PARENT] === String(pid) ? [fields] : []));
  const ofChildren = children.reduce((sum, fields) => sum + ticks(fields, UTIME, STIME), 0);
  return (ticks(own, UTIME, STIME, CUTIME, CSTIME) + ofChildren) * MS_PER_TICK;
}

function ticks(fields: readonly string[], ...which: readonly number[]): number {
  return which.reduce((sum, at) => sum + Number(fields[at]), 0);
}

async function fieldsOf(pid: string): Promise<readonly string[] | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}
