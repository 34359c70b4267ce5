import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { unreachable } from '../../src/domain/unreachable.ts';
import type { Command, Exit, Report, Request } from './supervisor.ts';

export type { Command, Exit, User } from './supervisor.ts';

export interface SupervisedProcess {
  readonly pid: number;
  /** Resolves when the process has ended; never rejects. */
  readonly exited: Promise<Exit>;
  /** Sends a signal; has no effect after the process has ended. */
  signal(signal: NodeJS.Signals): void;
}

export interface SupervisorOptions {
  /** Removed with its content, also the commands' output (`logFileIn`), when the supervisor leaves. */
  readonly folder?: string;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** A command could not be started; `code` is the system's, e.g. `ENOENT`. */
class CommandRefused extends Error {
  readonly code: string;

  constructor(code: string, reason: string) {
    super(reason);
    this.code = code;
  }
}

/**
 * Runs commands that must not outlive this process (see `supervisor.ts`). Keeps the event loop alive until `close`.
 */
export class Supervisor {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  #onReport: ((report: Report | undefined) => void) | undefined;

  constructor({ folder, cwd, env }: SupervisorOptions) {
    const output = folder === undefined ? 'pipe' : 'ignore';
    this.#child = fork(
      fileURLToPath(new URL('./supervisor.ts', import.meta.url)),
      folder === undefined ? [] : [folder],
      {
        // Outside the terminal's process group: Ctrl-C is for the parent to handle, not for the server.
        detached: true,
        // Without the flags of a test runner's worker.
        execArgv: [],
        stdio: ['ignore', output, output, 'ipc'],
        ...(cwd === undefined ? {} : { cwd }),
        ...(env === undefined ? {} : { env }),
      },
    );
    this.#child.on('message', (report: Report) => this.#onReport?.(report));
    this.#gone = new Promise((resolve) => {
      this.#child.once('error', () => resolve());
      this.#child.once('close', () => resolve());
    });
    void this.#gone.then(() => this.#onReport?.(undefined));
  }

  /** The command's stdout, if there is no folder. */
  get stdout() {
    return this.#child.stdout;
  }

  /** The command's stderr, if there is no folder. */
  get stderr() {
    return this.#child.stderr;
  }

  /**
   * Starts a command; the previous one must have ended.
   * @throws CommandRefused if it cannot be started; Error if the supervisor itself is gone
   */
  async run(command: Command): Promise<SupervisedProcess> {
    if (!this.#child.connected) throw new Error('the process that supervises it ended');
    const { promise: exited, resolve: onExit } = Promise.withResolvers<Exit>();
    const started = new Promise<number>((resolve, reject) => {
      let pid: number | undefined;
      this.#onReport = (report) => {
        switch (report?.kind) {
          case 'started':
            pid = report.pid;
            return resolve(pid);
          case 'refused':
            return reject(new CommandRefused(report.code, report.reason));
          case 'exited':
            return onExit(report.exit);
          case undefined:
            // Somebody killed the supervisor: nobody else can end what it ran.
            if (pid !== undefined) killIfAlive(pid);
            onExit({ code: null, signal: 'SIGKILL' });
            return reject(new Error('the process that supervises it ended'));
          default:
            return unreachable(report);
        }
      };
    });
    this.#send({ kind: 'run', command });
    const pid = await started;
    return { pid, exited, signal: (signal) => this.#send({ kind: 'signal', signal }) };
  }

  /** Ends the running command and removes the folder; resolves when everything, output included, is over. */
  async close(): Promise<void> {
    // By a request and not by `disconnect`: after that, Node never reports the end of the child's output.
    this.#send({ kind: 'leave' });
    await this.#gone;
  }

  #send(request: Request): void {
    // A channel that breaks meanwhile is reported by the child's `close`.
    if (this.#child.connected) this.#child.send(request, () => undefined);
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
