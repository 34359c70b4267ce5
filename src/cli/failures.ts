/** Exit codes, for scripts. */
export const EXIT = { ok: 0, failure: 1, usage: 2, differences: 3 } as const;

/** A command could not do what was asked; the message is one line that says what to do. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** A command was called in a way that makes no sense; the message says how to call it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command has compared, printed its findings, and found differences. */
export class Differs extends Error {
  override readonly name = 'Differs';
}

/** What is wrong with a file, from Node's error: `does not exist`. */
export function fileFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  const words: Readonly<Record<string, string>> = {
    ENOENT: 'does not exist',
    ENOTDIR: 'does not exist',
    EISDIR: 'is a folder',
    EACCES: 'cannot be read: permission denied',
  };
  return words[code] ?? `cannot be read: ${code}`;
}
