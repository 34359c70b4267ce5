import { InvalidArgumentError } from 'commander';
import { isDay } from '../domain/calendar.ts';
import { loadValid } from './configuration.ts';
import { CommandFailed } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** A day as the books write it. */
export function readDay(text: string): string {
  if (isDay(text)) return text;
  throw new InvalidArgumentError('It must be a day such as 2026-11-20.');
}

/** `books.timeZone` of the configuration folder. @throws CommandFailed if `gateway.yaml` is not valid */
export async function booksTimeZone(
  terminal: Terminal,
  folderOption: string | undefined,
): Promise<string> {
  const { configuration, folder } = await loadValid(terminal.env, folderOption);
  if (configuration !== undefined) return configuration.gateway.books.timeZone;
  throw new CommandFailed(
    `gateway.yaml in ${folder} is not valid: see what is wrong with \`wagergate config check\``,
  );
}
