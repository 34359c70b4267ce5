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

/** What to say of an operator that has no file in the folder; undefined where it has, or there is no folder. */
export function operatorWithoutFile(
  terminal: Terminal,
  folder: string | undefined,
  id: string,
): UsageError | undefined {
  const known = operatorFiles(configFolder(terminal.env, folder));
  return known === undefined || known.includes(id) ? undefined : unknownOperator(id, known);
}

/**
 * Where nothing was found of an operator: a slip in its id is the likeliest reason. Only a word on
 * stderr, because an operator whose file is gone has deliveries all the same.
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
