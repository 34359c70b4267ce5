import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { logFileIn } from '../../tools/embedded/log-file.ts';
import { type Exit, Supervisor } from '../../tools/embedded/supervised.ts';

export type JsonLine = Readonly<Record<string, unknown>>;

export interface ChildOptions {
  /** The script for `node`, relative to the repository's root. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Written to a file, whose path is the last argument. */
  readonly input?: string;
  /** Flags for `node` itself, given the folder of the process. */
  readonly nodeArgs?: (folder: string) => readonly string[];
  /** The whole environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A process that ends with this one. Its output goes to a file: nobody spends time reading its log. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** Its own folder, removed with it. */
  readonly folder: string;
  readonly exited: Promise<Exit>;
  /**
   * The first JSON line of its output that the predicate accepts.
   *
   * @throws Error, with the end of its output, if it ends without one
   */
  line(isIt: (line: JsonLine) => boolean): Promise<JsonLine>;
  /** Sends `SIGTERM`. @returns how it ended */
  stop(): Promise<Exit>;
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const POLL_MS = 20;

export async function startChild(options: ChildOptions): Promise<Child> {
  const { script, args = [], input, nodeArgs = () => [], env = {} } = options;
  const folder = join(tmpdir(), `wagergate-bench-${randomBytes(8).toString('hex')}`);
  const supervisor = new Supervisor({ folder, cwd: ROOT, env: { ...env } });
  try {
    await mkdir(folder, { mode: 0o700 });
    const inputFile = join(folder, 'input');
    if (input !== undefined) await writeFile(inputFile, input, { mode: 0o600 });
    const { pid, exited, signal } = await supervisor.run({
      file: process.execPath,
      args: [
        ...nodeArgs(folder),
        resolve(ROOT, script),
        ...args,
        ...(input === undefined ? [] : [inputFile]),
      ],
      stopSignal: 'SIGKILL',
    });
    let hasEnded = false;
    void exited.then(() => {
      hasEnded = true;
    });
    const output = () => readFile(logFileIn(folder), 'utf8').catch(() => '');
    return {
      pid,
      folder,
      exited,
      line: async (isIt) => {
        for (;;) {
          // Read before the output: what it printed right before its end still counts.
          const ended = hasEnded;
          const lines = (await output()).split('\n');
          const found = lines.map(jsonOf).find((json) => json !== undefined && isIt(json));
          if (found !== undefined) return found;
          if (ended) throw new Error(`${script} ended: ${lines.slice(-8).join('\n')}`);
          await sleep(POLL_MS);
        }
      },
      stop: () => {
        signal('SIGTERM');
        return exited;
      },
      [Symbol.asyncDispose]: () => supervisor.close(),
    };
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}

function jsonOf(line: string): JsonLine | undefined {
  // The last line of the file may be incomplete.
  if (!line.startsWith('{') || !line.endsWith('}')) return undefined;
  const value: unknown = JSON.parse(line);
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}
