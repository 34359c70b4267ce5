import { hostname, userInfo } from 'node:os';
import { type Caller, REASON_CHARS_MAX } from '../domain/caller.ts';
import type { Authority } from '../store/audit/audited.ts';
import { UsageError } from './failures.ts';

/** Who works at this command line, for the audit; whoever has the database's address may do all. */
function cliCaller(): Caller {
  return { actor: `cli:${userName()}`, role: 'admin', address: hostname() };
}

/** @param options of a command that takes `--reason` */
export function byOf({ reason }: { readonly reason?: string | undefined }): Authority {
  return { caller: cliCaller(), reason: reason === '' ? undefined : reason };
}

/**
 * Reads an option that is kept on record, without blanks around it.
 * @throws UsageError where it is longer than by HTTP
 */
export function recordedWords(
  option: string,
  charsMax = REASON_CHARS_MAX,
): (text: string) => string {
  return (text) => {
    const words = text.trim();
    if (words.length <= charsMax) return words;
    throw new UsageError(`${option} has ${words.length} characters: at most ${charsMax} are kept`);
  };
}

/**
 * The same where it has to say something.
 * @throws UsageError also where it is blank
 */
export function notBlank(option: string, charsMax = REASON_CHARS_MAX): (text: string) => string {
  const wordsOf = recordedWords(option, charsMax);
  return (text) => {
    const words = wordsOf(text);
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
