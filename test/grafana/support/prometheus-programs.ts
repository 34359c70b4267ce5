import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

export type PrometheusProgram = 'prometheus' | 'promtool';

/** Where the package is unpacked, once for all runs; `npm ci` takes it away. */
const CACHE = resolve(import.meta.dirname, '../../../node_modules/.cache/wagergate');
const UNPACKED = join(CACHE, 'prometheus');

const WHAT_TO_DO =
  'install it (Debian, Ubuntu: apt-get install prometheus; macOS: brew install prometheus)';

/** Fetched and unpacked, not installed: no service comes up and no root is needed. */
const FETCH_SCRIPT = `
cd "$1" || exit 1
fetch='apt-get -q download prometheus'
$fetch || { [ "$(id -u)" = 0 ] && apt-get -q update && $fetch; } || exit 1
dpkg -x prometheus_*.deb unpacked
`;

/**
 * The path of one of Prometheus's programs: from `PATH`, or out of Debian's package.
 * @throws Error, one line that says what to install
 */
export async function prometheusProgram(name: PrometheusProgram): Promise<string> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const installed = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (installed !== undefined) return installed;
  const unpacked = join(UNPACKED, 'usr/bin', name);
  if (!existsSync(unpacked)) await fetchPackage();
  return unpacked;
}

async function fetchPackage(): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'fetching-'));
  try {
    await runFetch(folder);
    await rename(join(folder, 'unpacked'), UNPACKED).catch((error: unknown) => {
      // Another test file was faster.
      if (!existsSync(UNPACKED)) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runFetch(folder: string): Promise<void> {
  if (!existsSync('/etc/debian_version')) {
    throw new Error(`prometheus is not on PATH: ${WHAT_TO_DO}`);
  }
  const script = spawn('sh', ['-c', FETCH_SCRIPT, 'sh', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [complaints, [code]] = await Promise.all([text(script.stderr), once(script, 'exit')]);
  if (code === 0) return;
  const lastWord = complaints.trim().split('\n').at(-1) ?? '';
  throw new Error(`apt-get could not fetch prometheus (${lastWord}): ${WHAT_TO_DO}`);
}

export interface Finished {
  readonly code: number | null;
  /** What it printed, errors included. */
  readonly output: string;
}

/** Runs promtool to its end. */
export async function promtool(
  args: readonly string[],
  options: { readonly cwd?: string; readonly input?: string } = {},
): Promise<Finished> {
  const tool = spawn(await prometheusProgram('promtool'), args, { cwd: options.cwd });
  tool.stdin.end(options.input ?? '');
  const [printed, complaints, [code]] = await Promise.all([
    text(tool.stdout),
    text(tool.stderr),
    once(tool, 'exit'),
  ]);
  return { code, output: `${printed}${complaints}` };
}
