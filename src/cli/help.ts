import type { Command } from 'commander';

export interface Example {
  readonly line: string;
  /** What it does, if the line does not say so. */
  readonly note?: string;
}

/** Adds examples below a command's help: most people read nothing else. */
export function withExamples(command: Command, ...examples: readonly Example[]): Command {
  const lines = examples.map(({ line, note }) =>
    note === undefined ? `  $ wagergate ${line}` : `  $ wagergate ${line}\n      ${note}`,
  );
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
