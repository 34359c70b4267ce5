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
