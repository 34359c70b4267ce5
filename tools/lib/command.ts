import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Whether a program is on `PATH`. */
export function isOnPath(program: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some((folder) => existsSync(join(folder, program)));
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string;
  /** The program is killed after this time. */
  readonly timeoutMs?: number;
}

/** Runs a program to its end. */
export async function run(
  file: string,
  args: readonly string[],
  { cwd, input, timeoutMs }: RunOptions = {},
): Promise<Finished> {
  const child = spawn(file, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
    ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
  });
  // A program that does not read its input closes it early.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(input ?? '');
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

/** Like `run`. @returns its output @throws Error, with the end of its output, if it fails */
export async function runOrFail(
  file: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(file, args, options);
  if (code === 0) return stdout;
  const lastLines = `${stdout}\n${stderr}`.trim().split('\n').slice(-8).join('\n');
  throw new Error(`${file} ${args.join(' ')} ended with ${code}:\n${lastLines}`);
}
