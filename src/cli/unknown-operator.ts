import { plain } from '../lib/plain-text.ts';
import { configFolder, operatorFiles } from './configuration.ts';
import { UsageError } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** No operator has this id; the message names those that there are. */
export function unknownOperator(id: string, known: readonly string[]): UsageError {
  const list = known.map(plain).join(', ') || 'none in the configuration';
  return new UsageError(`no operator ${plain(id)}: there is ${list}`);
}

/** The error for an operator without a file in the folder; undefined if it has one, or there is no folder. */
export function operatorWithoutFile(
  terminal: Terminal,
  folder: string | undefined,
  id: string,
): UsageError | undefined {
  const known = operatorFiles(configFolder(terminal.env, folder));
  return known === undefined || known.includes(id) ? undefined : unknownOperator(id, known);
}

/** Call it when nothing was found for an operator: its id may be mistyped, or its file deleted. */
export function warnOfUnknownOperator(
  terminal: Terminal,
  folder: string | undefined,
  id: string,
): void {
  if (operatorWithoutFile(terminal, folder, id) === undefined) return;
  terminal.tell(`warning: no file of operator ${plain(id)} in the configuration`);
}
