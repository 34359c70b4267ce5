import { hostname, userInfo } from 'node:os';
import type { Caller } from '../domain/caller.ts';
import type { Authority } from '../store/audit/audited.ts';
import { UsageError } from './failures.ts';

/** Who works at this command line, for the audit; whoever has the database's address may do all. */
function cliCaller(): Caller {
  return { actor: `cli:${userName()}`, role: 'admin', address: hostname() };
}

/** @param options of a command that takes `--reason` */
export function byOf({ reason }: { readonly reason?: string | undefined }): Authority {
  const words = reason?.trim();
  return { caller: cliCaller(), reason: words === '' ? undefined : words };
}

/**
 * Reads an option that is kept on record and has to say something, without blanks around it.
 * @throws UsageError where it is blank
 */
export function notBlank(option: string): (text: string) => string {
  return (text) => {
    const words = text.trim();
    if (words === '') throw new UsageError(`${option} is empty: it is kept for the record`);
    return words;
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user often has a number and no name.
    return String(process.getuid?.() ?? 'unknown');
  }
}
