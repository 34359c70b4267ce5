import { CommanderError } from 'commander';
import { errorMessage } from '../lib/faults.ts';
import { plain } from '../lib/plain-text.ts';
import { CommandFailed, Differs, EXIT, UsageError } from './failures.ts';
import { Interrupted } from './interruption.ts';
import { createProgram } from './program.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs one command line. @returns the exit code: 0 done, 1 failed, 2 not understood, 3 different, 130 Ctrl-C.
 * Every failure is one line on stderr; with WAGERGATE_DEBUG its stack follows.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    // Commander has already printed the message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof Interrupted) {
      terminal.tell('interrupted');
      return error.exitCode;
    }
    if (error instanceof Differs) return EXIT.differences;
    terminal.tell(`error: ${describe(error)}`);
    if (terminal.env.WAGERGATE_DEBUG && error instanceof Error) terminal.tell(stackOf(error));
    return error instanceof UsageError ? EXIT.usage : EXIT.failure;
  }
}

function describe(error: unknown): string {
  const message = plain(errorMessage(error));
  if (error instanceof CommandFailed || error instanceof UsageError) return message;
  return `${message || 'something unforeseen'} (set WAGERGATE_DEBUG=1 to see where)`;
}

function stackOf(error: Error): string {
  const stack = error.stack ?? String(error);
  return error.cause instanceof Error ? `${stack}\ncaused by ${stackOf(error.cause)}` : stack;
}
