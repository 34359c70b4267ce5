import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Exit, Supervisor } from '../../tools/embedded/supervised.ts';

export interface ProcessOptions {
  /** All it gets, but for `PATH`, `HOME`, `TMPDIR` and Node's cache of compiled code: nothing of the machine decides a test. */
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** What `node` runs, seen from the repository's root; the gateway unless given. */
  readonly script?: string;
  readonly cwd?: string;
  /** How many files and connections it may have open; default: as many as the tests themselves. */
  readonly openFilesMax?: number;
  /** Where its stdout goes; default: into `lines`. */
  readonly stdout?: string;
}

/** A line of stdout: an object where it was JSON, as the gateway's log is. */
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
  /** Resolves when the process has ended and all it wrote is here. */
  readonly exited: Promise<Exit>;
  /**
   * The first line, past or to come, that the predicate accepts.
   *
   * @throws Error, with what the process wrote, when it ends first or `timeoutMs` pass
   */
  waitForLine(predicate: (line: Line) => boolean, timeoutMs?: number): Promise<Line>;
  signal(signal: NodeJS.Signals): void;
  /** `SIGTERM`, as an orchestrator would, and how the process ended. */
  stop(): Promise<Exit>;
  /** `SIGKILL`: no last words. */
  kill(): Promise<Exit>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'] as const;
const WAIT_MS = 30_000;

const supervisors = new Set<Supervisor>();

/** For `after-each-file.ts`: this module may be loaded once for many files. */
export async function endProcesses(): Promise<void> {
  await Promise.all([...supervisors].map((supervisor) => supervisor.close()));
  supervisors.clear();
}

/**
 * Runs `node src/main.ts` as users do, in a process of its own. What a test leaves running is
 * killed after its file, and also when the test runner itself is killed.
 */
export async function startGateway(options: ProcessOptions = {}): Promise<GatewayProcess> {
  const inherited = INHERITED.map((name) => [name, process.env[name]] as const);
  const supervisor = new Supervisor({
    cwd: options.cwd ?? ROOT,
    env: { ...Object.fromEntries(inherited), ...options.env },
  });
  supervisors.add(supervisor);
  const output = collect(supervisor.stdout, supervisor.stderr);
  const args = [resolve(ROOT, options.script ?? 'src/main.ts'), ...(options.args ?? [])];
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

/** The same program behind a shell that lowers its own limit, or moves its stdout, and then becomes it. */
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
