import { nearMiss } from '../config/near-miss.ts';
import { plain } from '../lib/plain-text.ts';
import { configFolder, operatorFiles } from './configuration.ts';
import { UsageError } from './failures.ts';
import type { Terminal } from './terminal.ts';

/** No operator has this id; the message names the one that was probably meant. */
export function unknownOperator(id: string, known: readonly string[]): UsageError {
  const meant = nearMiss(id, known);
  const advice =
    meant === undefined
      ? known.length === 0
        ? 'there is none in the configuration'
        : 'see `wagergate operator list`'
      : `did you mean ${meant}?`;
  return new UsageError(`no operator ${plain(id)}: ${advice}`);
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

/**
 * Call it when nothing was found for an operator: a typo in its id is the likeliest reason. Only a line on
 * stderr, because an operator whose file was deleted may still have deliveries.
 */
export function warnOfUnknownOperator(
  terminal: Terminal,
  folder: string | undefined,
  id: string,
): void {
  const known = operatorFiles(configFolder(terminal.env, folder));
  if (known === undefined || known.includes(id)) return;
  const meant = nearMiss(id, known);
  const advice = meant === undefined ? '' : `: did you mean ${meant}?`;
  terminal.tell(`warning: no file of operator ${plain(id)} in the configuration${advice}`);
}
