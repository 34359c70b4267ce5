import { createInterface } from 'node:readline';
import { CommandFailed } from '../failures.ts';
import type { Terminal } from '../terminal.ts';

/** Asks a person, who answers with one line each. Questions go to stderr: stdout is for data. */
export class Questions {
  readonly #terminal: Terminal;
  readonly #interface: ReturnType<typeof createInterface>;
  readonly #lines: AsyncIterator<string>;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#interface = createInterface({ input: terminal.stdin });
    this.#lines = this.#interface[Symbol.asyncIterator]();
  }

  /**
   * Asks until the answer is valid. @param judge returns why it is not @param fallback for an empty answer
   * @throws CommandFailed when the input ends without one
   */
  async ask(
    question: string,
    judge: (answer: string) => string | undefined,
    fallback?: string,
  ): Promise<string> {
    const shown = fallback === undefined ? `${question}:` : `${question} [${fallback}]:`;
    for (;;) {
      this.#terminal.tell(shown);
      const line = await this.#lines.next();
      if (line.done === true)
        throw new CommandFailed(`no answer to "${question}": nothing is done`);
      const answer = line.value.trim() || (fallback ?? '');
      const fault = judge(answer);
      if (fault === undefined) return answer;
      this.#terminal.tell(fault);
    }
  }

  close(): void {
    this.#interface.close();
  }
}
