import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { debianPackage } from '../../../tools/lib/debian-package.ts';

export type PrometheusProgram = 'prometheus' | 'promtool';

const WHAT_TO_DO =
  'install prometheus (Debian, Ubuntu: apt-get install prometheus; macOS: brew install prometheus)';

/**
 * The path of one of Prometheus's programs: on `PATH`, or from Debian's package.
 * @throws Error with one line that says what to install
 */
export async function prometheusProgram(name: PrometheusProgram): Promise<string> {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const installed = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (installed !== undefined) return installed;
  try {
    return join(await debianPackage({ name: 'prometheus' }), 'usr/bin', name);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${why}: ${WHAT_TO_DO}`, { cause });
  }
}

/**
 * Whether the tests that need Prometheus can run. If not, one line says what to do and they are skipped; but with
 * CI set, where nobody would read it, they fail.
 */
export async function hasPrometheus(): Promise<boolean> {
  try {
    await prometheusProgram('promtool');
    return true;
  } catch (error) {
    if (process.env.CI) throw error;
    const why = error instanceof Error ? error.message : String(error);
    process.stderr.write(`The tests with a real Prometheus are skipped: ${why}\n`);
    return false;
  }
}

export interface Finished {
  readonly code: number | null;
  /** Its output, including errors. */
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
