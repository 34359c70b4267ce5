import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { fileFault } from '../lib/faults.ts';
import { CommandFailed } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** Means stdin, as is usual. */
export const STDIN = '-';

/**
 * The bytes of a file, or of stdin. @param signal closes the input
 * @throws CommandFailed if reading fails, possibly midway; the signal's reason
 */
export async function* readChunks(
  terminal: Terminal,
  file: string,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  if (file === STDIN && terminal.stdin.isTTY === true) {
    terminal.tell('reading from the terminal: end with Ctrl-D on a line of its own');
  }
  const source: Readable = file === STDIN ? terminal.stdin : createReadStream(file);
  if (signal !== undefined) addAbortSignal(signal, source);
  try {
    for await (const chunk of source) {
      yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk), 'utf8');
    }
  } catch (error) {
    const name = file === STDIN ? 'stdin' : file;
    throw new CommandFailed(`${name} ${fileFault(error)}`, { cause: error });
  }
  if (signal === undefined) return;
  // Ctrl-C also ends the program that writes to stdin, and the loop shows that end first: the last line may be cut.
  await turn();
  signal.throwIfAborted();
}

/** The whole input, byte for byte. @throws CommandFailed */
export async function readAll(terminal: Terminal, file: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of readChunks(terminal, file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
