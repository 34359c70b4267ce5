import { hostname, userInfo } from 'node:os';
import { type Caller, REASON_CHARS_MAX } from '../domain/caller.ts';
import type { Authority } from '../store/audit/audited.ts';
import { UsageError } from './failures.ts';

/** The user of this command line, for the audit; anybody with the database's address may do everything. */
function cliCaller(): Caller {
  return { actor: `cli:${userName()}`, role: 'admin', address: hostname() };
}

/** @param options those of a command with `--reason` */
export function byOf({ reason }: { readonly reason?: string | undefined }): Authority {
  return { caller: cliCaller(), reason: reason === '' ? undefined : reason };
}

/** Reads an option that is recorded, trimmed. @throws UsageError if it is longer than HTTP allows */
export function recordedText(
  option: string,
  charsMax = REASON_CHARS_MAX,
): (text: string) => string {
  return (text) => {
    const words = text.trim();
    if (words.length <= charsMax) return words;
    throw new UsageError(`${option} has ${words.length} characters: at most ${charsMax} are kept`);
  };
}

/** The same for an option that must not be blank. @throws UsageError also if it is blank */
export function notBlank(option: string, charsMax = REASON_CHARS_MAX): (text: string) => string {
  const wordsOf = recordedText(option, charsMax);
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
