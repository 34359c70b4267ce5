import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Exit, Supervisor } from '../../tools/embedded/supervised.ts';
import { BUNDLED_MAIN } from './bundled.ts';

export interface ProcessOptions {
  /**
   * Its whole environment, except for `PATH`, `HOME`, `TMPDIR` and Node's compile cache: nothing else of the
   * machine may decide a test.
   */
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The script for `node`, relative to the repository's root; by default the gateway as one bundle. */
  readonly script?: string;
  readonly cwd?: string;
  /** How many files and connections it may have open; by default as many as the tests themselves. */
  readonly openFilesMax?: number;
  /** Where its stdout goes; by default into `lines`. */
  readonly stdout?: string;
}

/** A line of stdout; with an object if it is JSON, as in the gateway's log. */
export interface Line {
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

export interface GatewayProcess {
  readonly pid: number;
  /** Every line of stdout so far, in order. */
  readonly lines: readonly Line[];
  /** Everything on stderr so far. */
  stderr(): string;
  /** Resolves when the process has ended and all its output has arrived. */
  readonly exited: Promise<Exit>;
  /**
   * The first line, past or future, that the predicate accepts.
   *
   * @throws Error, with the output of the process, if it ends first or `timeoutMs` pass
   */
  waitForLine(predicate: (line: Line) => boolean, timeoutMs?: number): Promise<Line>;
  signal(signal: NodeJS.Signals): void;
  /** Sends `SIGTERM`, as an orchestrator would. @returns how the process ended */
  stop(): Promise<Exit>;
  /** Sends `SIGKILL`: the process cannot clean up. */
  kill(): Promise<Exit>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** As `npm start` and the image have them; a start collects garbage less often. */
const FLAGS = ['--max-semi-space-size=32', '--no-allocation-site-pretenuring'];
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'] as const;
const WAIT_MS = 30_000;

const supervisors = new Set<Supervisor>();

/** For `after-each-file.ts`: many files may share one instance of this module. */
export async function endProcesses(): Promise<void> {
  await Promise.all([...supervisors].map((supervisor) => supervisor.close()));
  supervisors.clear();
}

/**
 * Runs the gateway in its own process. A process that a test leaves running is killed after its file, and also if the
 * test runner itself is killed.
 */
export async function startGateway(options: ProcessOptions = {}): Promise<GatewayProcess> {
  const inherited = INHERITED.map((name) => [name, process.env[name]] as const);
  const supervisor = new Supervisor({
    cwd: options.cwd ?? ROOT,
    env: { ...Object.fromEntries(inherited), ...options.env },
  });
  supervisors.add(supervisor);
  const output = collect(supervisor.stdout, supervisor.stderr);
  const args = [...FLAGS, resolve(ROOT, options.script ?? BUNDLED_MAIN), ...(options.args ?? [])];
  const process_ = await supervisor.run({
    ...behindShell(options, { file: process.execPath, args }),
    stopSignal: 'SIGKILL',
  });
  const exited = process_.exited.then(async (exit) => {
    await supervisor.close();
    supervisors.delete(supervisor);
    output.end();
    return exit;
  });
  const end = (signal: NodeJS.Signals): Promise<Exit> => {
    process_.signal(signal);
    return exited;
  };
  return {
    pid: process_.pid,
    lines: output.lines,
    stderr: output.stderr,
    exited,
    waitForLine: output.waitForLine,
    signal: process_.signal,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/**
 * The same program started by a shell that first lowers its limit or redirects its stdout, and then becomes the
 * program.
 */
function behindShell(
  { openFilesMax, stdout }: ProcessOptions,
  program: { readonly file: string; readonly args: readonly string[] },
) {
  if (openFilesMax === undefined && stdout === undefined) return program;
  const limit = openFilesMax === undefined ? '' : `ulimit -n ${openFilesMax} && `;
  const script = `${limit}exec "$@"${stdout === undefined ? '' : ' >"$0"'}`;
  return { file: '/bin/sh', args: ['-c', script, stdout ?? 'sh', program.file, ...program.args] };
}

function collect(stdout: Readable | null, stderr: Readable | null) {
  if (stdout === null || stderr === null) throw new Error('the process has no pipes');
  const lines: Line[] = [];
  const waiting = new Set<() => void>();
  let errors = '';
  let ended = false;
  const tell = () => {
    for (const look of waiting) look();
  };
  createInterface({ input: stdout }).on('line', (text) => {
    lines.push({ text, json: jsonOf(text) });
    tell();
  });
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });

  const waitForLine = (predicate: (line: Line) => boolean, timeoutMs = WAIT_MS): Promise<Line> => {
    const { promise, resolve: found, reject } = Promise.withResolvers<Line>();
    const giveUp = (why: string) => {
      const written = lines.slice(-20).map((line) => line.text);
      reject(new Error(`${why} without the line\n${written.join('\n')}\n${errors}`));
    };
    const look = () => {
      const line = lines.find(predicate);
      if (line !== undefined) found(line);
      else if (ended) giveUp('the process ended');
    };
    const timer = setTimeout(() => giveUp(`${timeoutMs} ms passed`), timeoutMs);
    waiting.add(look);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      waiting.delete(look);
    });
  };
  return {
    lines,
    stderr: () => errors,
    waitForLine,
    end() {
      ended = true;
      tell();
    },
  };
}

function jsonOf(text: string): Line['json'] {
  if (!text.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
