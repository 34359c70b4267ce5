import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { run } from '../../../src/cli/run.ts';
import { Terminal } from '../../../src/cli/terminal.ts';
import { COMPILED } from '../../support/compiled.ts';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Around {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Buffer;
  readonly cwd?: string;
  /** An output that nobody reads, as with a `head` that has ended; for `spawnWagergate`. */
  readonly unread?: 'stdout' | 'stderr';
}

const PROGRAM = fileURLToPath(new URL('../../../src/cli/wagergate.ts', import.meta.url));

/** Runs a command in this process, which is enough for most tests. */
export async function wagergate(args: readonly string[], around: Around = {}): Promise<Ran> {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const terminal = new Terminal({
    env: around.env ?? {},
    stdin: Readable.from(around.stdin === undefined ? [] : [Buffer.from(around.stdin)]),
    stdout,
    stderr,
  });
  const written = Promise.all([textOf(stdout), textOf(stderr)]);
  const code = await run(args, terminal);
  stdout.end();
  stderr.end();
  const [out, err] = await written;
  return { code, stdout: out, stderr: err };
}

/** Runs the program as users do, in its own process. Its environment is only `env` and Node's cache. */
export async function spawnWagergate(args: readonly string[], around: Around = {}): Promise<Ran> {
  return await spawnNode([PROGRAM, ...args], around);
}

/** Runs the program with its output in this file. */
export async function spawnInto(file: string, args: readonly string[]): Promise<Ran> {
  const node = [process.execPath, PROGRAM, ...args];
  return await spawnProgram('sh', ['-c', `exec "$@" > '${file}'`, 'sh', ...node]);
}

/** Runs the same Node as this test. */
export async function spawnNode(args: readonly string[], around: Around = {}): Promise<Ran> {
  return await spawnProgram(process.execPath, args, around);
}

async function spawnProgram(
  program: string,
  args: readonly string[],
  around: Around = {},
): Promise<Ran> {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH, ...COMPILED, ...around.env },
    ...(around.cwd === undefined ? {} : { cwd: around.cwd }),
  });
  child.stdin.end(around.stdin ?? '');
  const closed = once(child, 'close');
  const textRead = async (name: 'stdout' | 'stderr') => {
    if (around.unread !== name) return await textOf(child[name]);
    child[name].destroy();
    return '';
  };
  const [stdout, stderr] = await Promise.all([textRead('stdout'), textRead('stderr')]);
  await closed;
  return { code: child.exitCode, stdout, stderr };
}

async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
