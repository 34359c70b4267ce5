import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type SupervisedProcess, Supervisor } from '../../embedded/supervised.ts';

export interface GatewayOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  readonly adminPort: number;
}

const ROOT = resolve(import.meta.dirname, '../../..');
/** Generous, for a machine that does ten other things. */
const READY_MS_MAX = 180_000;
const READY_POLL_MS = 40;
const LINES_MAX = 20_000;
/** What a gateway logs when one of its own invariants is broken. */
const CRASHED = /"gateway\.crashed|gateway\.crashed/;

/** Node's compile cache halves the start of a process. */
const INHERITED = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE'] as const;

/** One gateway as users run it: a process with its HTTP workers, seen from outside. */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #supervisor: Supervisor;
  readonly #lines: string[] = [];
  #process: SupervisedProcess | undefined;
  #isExpectedToEnd = false;
  #stopped: readonly number[] = [];
  /** Log lines of crashes, which no gateway may have. */
  readonly crashes: string[] = [];

  constructor(options: GatewayOptions) {
    this.#options = options;
    const inherited = INHERITED.map((name) => [name, process.env[name]] as const);
    this.#supervisor = new Supervisor({
      cwd: ROOT,
      env: { ...Object.fromEntries(inherited), ...options.env },
    });
    for (const stream of [this.#supervisor.stdout, this.#supervisor.stderr]) {
      if (stream !== null)
        createInterface({ input: stream }).on('line', (line) => this.#keep(line));
    }
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#options.port}`;
  }

  get adminUrl(): string {
    return `http://127.0.0.1:${this.#options.adminPort}`;
  }

  /** @throws Error, with its last log lines, when it does not become ready */
  async start(): Promise<void> {
    this.#isExpectedToEnd = false;
    const started = await this.#supervisor.run({
      file: process.execPath,
      args: [join(ROOT, 'src/main.ts')],
      stopSignal: 'SIGKILL',
    });
    this.#process = started;
    let ended = false;
    void started.exited.then(({ code, signal }) => {
      ended = true;
      if (!this.#isExpectedToEnd) this.crashes.push(`ended by itself (${signal ?? code})`);
    });
    const giveUpAtMs = performance.now() + READY_MS_MAX;
    while (!(await this.#isReady())) {
      if (ended || performance.now() > giveUpAtMs) {
        throw new Error(`the gateway did not start:\n${this.#lines.slice(-15).join('\n')}`);
      }
      await sleep(READY_POLL_MS);
    }
  }

  /** Freezes the process, or one of its HTTP workers, with SIGSTOP. */
  freeze(): void {
    const pid = this.#process?.pid;
    if (pid === undefined) return;
    const children = childrenOf(pid);
    this.#stopped = children.length === 0 ? [pid] : children.slice(0, 1);
    for (const each of this.#stopped) signal(each, 'SIGSTOP');
  }

  thaw(): void {
    // It was killed before or while it was frozen, and stays away until it is started again.
    if (this.#stopped.length === 0) return;
    for (const each of this.#stopped) signal(each, 'SIGCONT');
    this.#stopped = [];
  }

  /** `kill -9`, HTTP workers included: nothing can be cleaned up. */
  async kill(): Promise<void> {
    const started = this.#process;
    if (started === undefined) return;
    this.#isExpectedToEnd = true;
    this.#stopped = [];
    this.#process = undefined;
    const children = childrenOf(started.pid);
    started.signal('SIGKILL');
    for (const each of children) signal(each, 'SIGKILL');
    await started.exited;
  }

  async close(): Promise<void> {
    this.thaw();
    await this.kill();
    await this.#supervisor.close();
  }

  #keep(line: string): void {
    if (CRASHED.test(line)) this.crashes.push(line);
    this.#lines.push(line);
    if (this.#lines.length > LINES_MAX) this.#lines.splice(0, LINES_MAX / 2);
  }

  async #isReady(): Promise<boolean> {
    try {
      const response = await fetch(`${this.adminUrl}/health/ready`);
      await response.text();
      return response.status === 200;
    } catch {
      // Nobody listens yet: not ready.
      return false;
    }
  }
}

function childrenOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
        .split(' ')
        .filter((word) => word !== '')
        .map(Number),
    );
  } catch {
    // The process is gone, or the system has no /proc: then only the process itself is signalled.
    return [];
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
