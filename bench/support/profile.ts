import { readFile } from 'node:fs/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { table } from '../../src/lib/table.ts';

/** The part of V8's `.cpuprofile` that is read here. Times are microseconds on the monotonic clock. */
interface CpuProfile {
  readonly startTime: number;
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const ROOT = pathToFileURL(fileURLToPath(new URL('../../', import.meta.url))).href;
const FUNCTIONS_MAX = 40;
const FILES_MAX = 20;

/** Where the time went, as two tables of self time: by function, and by file or package. */
export async function profileReport(
  file: string,
  window: { readonly fromMs: number; readonly toMs: number },
): Promise<string> {
  const profile: CpuProfile = JSON.parse(await readFile(file, 'utf8'));
  const selfUs = selfTimes(profile, window);
  const idleUs = selfUs.get('(idle)') ?? 0;
  selfUs.delete('(idle)');
  const busyUs = [...selfUs.values()].reduce((sum, us) => sum + us, 0);
  const byPlace = new Map<string, number>();
  for (const [name, us] of selfUs) {
    const place = placeOf(name);
    byPlace.set(place, (byPlace.get(place) ?? 0) + us);
  }
  const idle = ((100 * idleUs) / (idleUs + busyUs)).toFixed(1);
  return [
    `busy ${(busyUs / 1000).toFixed(0)} ms, idle ${idle} %`,
    '',
    ranking('function', selfUs, busyUs, FUNCTIONS_MAX),
    '',
    ranking('file or package', byPlace, busyUs, FILES_MAX),
  ].join('\n');
}

/** Microseconds by `name place:line`. */
function selfTimes(
  { nodes, samples, timeDeltas, startTime }: CpuProfile,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Map<string, number> {
  const nameOf = new Map(nodes.map(({ id, callFrame }) => [id, frameName(callFrame)]));
  const selfUs = new Map<string, number>();
  let atUs = startTime;
  for (const [n, id] of samples.entries()) {
    const deltaUs = timeDeltas[n] ?? 0;
    atUs += deltaUs;
    const name = nameOf.get(id);
    if (name === undefined || atUs < fromMs * 1000 || atUs > toMs * 1000) continue;
    selfUs.set(name, (selfUs.get(name) ?? 0) + deltaUs);
  }
  return selfUs;
}

function frameName({ functionName, url, lineNumber }: CpuProfile['nodes'][number]['callFrame']) {
  const name = functionName === '' ? '(anonymous)' : functionName;
  // Built into V8 or Node: it has no source file.
  if (url === '') return name;
  const place = url.startsWith(ROOT) ? url.slice(ROOT.length) : url;
  return `${name}  ${place}:${lineNumber + 1}`;
}

/** The package of installed code, the file of our own and Node's. */
function placeOf(name: string): string {
  const place = name.split('  ')[1]?.replace(/:\d+$/, '');
  if (place === undefined) return name.startsWith('(') ? name : '(native)';
  return /node_modules\/(?:@[^/]+\/)?[^/]+/.exec(place)?.[0] ?? place;
}

function ranking(
  title: string,
  times: ReadonlyMap<string, number>,
  busyUs: number,
  max: number,
): string {
  const top = [...times].sort((a, b) => b[1] - a[1]).slice(0, max);
  return table(
    [
      { title: 'self', align: 'right' },
      { title: 'ms', align: 'right' },
      { title, align: 'left' },
    ],
    top.map(([name, us]) => [
      `${((100 * us) / busyUs).toFixed(1)} %`,
      (us / 1000).toFixed(0),
      name,
    ]),
  );
}
