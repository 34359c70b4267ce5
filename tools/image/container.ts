import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Finished, run } from '../lib/command.ts';

export type Env = Readonly<Record<string, string>>;

/** An image's files, and what its configuration says to run. */
export interface Image {
  readonly root: string;
  readonly entryPoint: readonly string[];
  readonly user: { readonly uid: number; readonly gid: number };
  readonly env: readonly string[];
}

export interface Exit {
  readonly code: number | null;
  /** From the signal, or from the start if there was no signal. */
  readonly tookMs: number;
}

/** A container run by runc, as restricted as an orchestrator makes it, on this machine's network. */
export class Container {
  readonly #name: string;
  readonly #state: string;
  readonly #pid: number;
  readonly #startedAtMs: number;
  readonly #exited: Promise<number | null>;
  readonly #lines: readonly string[];

  private constructor(
    name: string,
    state: string,
    pid: number,
    startedAtMs: number,
    exited: Promise<number | null>,
    lines: readonly string[],
  ) {
    this.#name = name;
    this.#state = state;
    this.#pid = pid;
    this.#startedAtMs = startedAtMs;
    this.#exited = exited;
    this.#lines = lines;
  }

  /** Runs the image with these arguments; without any, it runs the default command. */
  static async start(
    image: Image,
    folder: string,
    { args = [], env = {} }: { readonly args?: readonly string[]; readonly env?: Env } = {},
  ): Promise<Container> {
    Container.#count += 1;
    const name = `wagergate-${process.pid}-${Container.#count}`;
    const bundle = join(folder, name);
    const state = join(folder, 'runc');
    await mkdir(bundle, { recursive: true });
    await writeFile(join(bundle, 'config.json'), JSON.stringify(bundleOf(image, args, env)));
    const pidFile = join(bundle, 'pid');
    const startedAtMs = performance.now();
    const child = spawn(
      'runc',
      ['--root', state, 'run', '--bundle', bundle, '--pid-file', pidFile, name],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => lines.push(line));
    }
    const exited = once(child, 'close').then(async ([code]: (number | null)[]) => {
      await rm(bundle, { recursive: true, force: true });
      return code ?? null;
    });
    const pid = await pidIn(pidFile, exited, lines);
    return new Container(name, state, pid, startedAtMs, exited, lines);
  }

  static #count = 0;

  get output(): string {
    return this.#lines.join('\n');
  }

  /** Milliseconds since its start was requested. */
  get ageMs(): number {
    return performance.now() - this.#startedAtMs;
  }

  /** The pid that process 1 of the container has on this machine. */
  get pid(): number {
    return this.#pid;
  }

  async ended(): Promise<Exit> {
    return { code: await this.#exited, tookMs: this.ageMs };
  }

  /** Sends a signal to process 1. @returns how it ended */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    const sentAtMs = performance.now();
    process.kill(this.#pid, signal);
    const code = await this.#exited;
    return { code, tookMs: performance.now() - sentAtMs };
  }

  /** Runs a command beside process 1, as `docker exec` does. */
  exec(args: readonly string[], env: Env = {}): Promise<Finished> {
    const variables = Object.entries(env).map(([name, value]) => `--env=${name}=${value}`);
    return run('runc', ['--root', this.#state, 'exec', ...variables, this.#name, ...args]);
  }
}

async function pidIn(
  file: string,
  exited: Promise<unknown>,
  lines: readonly string[],
): Promise<number> {
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  while (!existsSync(file)) {
    if (isOver) throw new Error(`the container did not start: ${lines.join(' | ')}`);
    await sleep(2);
  }
  return Number(await readFile(file, 'utf8'));
}

function bundleOf(image: Image, args: readonly string[], env: Env): unknown {
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: image.user,
      args: [...image.entryPoint, ...args],
      env: [...image.env, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      cwd: '/app',
      capabilities: {},
      noNewPrivileges: true,
    },
    root: { path: image.root, readonly: true },
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      {
        destination: '/dev',
        type: 'tmpfs',
        source: 'tmpfs',
        options: ['nosuid', 'mode=755', 'size=65536k'],
      },
    ],
    linux: {
      namespaces: [{ type: 'pid' }, { type: 'ipc' }, { type: 'uts' }, { type: 'mount' }],
      readonlyPaths: ['/proc/sys'],
    },
  };
}
