import type { Readable, Writable } from 'node:stream';
import { plainJson } from '../lib/plain-text.ts';

/** A command's environment and streams: those of the process, or of a test. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean };
}

/** Where commands read and write. Data goes to stdout, messages to stderr. */
export class Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Surroundings['stdin'];
  readonly #stdout: Surroundings['stdout'];
  readonly #stderr: Surroundings['stderr'];
  #fault: NodeJS.ErrnoException | undefined;

  constructor({ env, stdin, stdout, stderr }: Surroundings) {
    this.env = env;
    this.stdin = stdin;
    this.#stdout = stdout;
    this.#stderr = stderr;
    // The command continues to its own end and exit code: a certification first gives stakes back.
    stdout.on('error', (error: NodeJS.ErrnoException) => {
      this.#fault = error;
    });
    stderr.on('error', () => undefined);
  }

  /** Whether nobody reads what is printed any more, so that a long list may end. */
  get isUnread(): boolean {
    return this.#fault !== undefined;
  }

  /** Why printed text was lost, except by a reader such as `| head`, which has seen enough; undefined if none was. */
  get whyLost(): string | undefined {
    return this.#fault?.code === 'EPIPE' ? undefined : this.#fault?.message;
  }

  /** Whether all that was printed has left this process. */
  get isWritten(): boolean {
    return this.#stdout.writableLength === 0 && this.#stderr.writableLength === 0;
  }

  /** How many characters fit into a line; undefined if unknown, such as in a pipe. */
  get columns(): number | undefined {
    return this.#stdout.columns;
  }

  /** Whether a person watches stderr: progress is for nobody else. */
  get isWatched(): boolean {
    return this.#stderr.isTTY === true;
  }

  print(text: string): void {
    this.#stdout.write(`${text}\n`);
  }

  printJson(value: unknown): void {
    this.print(plainJson(value));
  }

  tell(text: string): void {
    this.#stderr.write(`${text}\n`);
  }
}
