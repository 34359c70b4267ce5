/** How many problems of one file are shown; the next appear once these are fixed. */
export const PROBLEMS_SHOWN_MAX = 20;

/** A wrong setting: its path in the file and what to do about it. Never contains a value. */
export interface SettingProblem {
  readonly path: readonly (string | number)[];
  readonly reason: string;
}

/** A wrong setting with its file. */
export interface Problem {
  /** Relative to the configuration folder, such as `operators/alpha.yaml`. */
  readonly file: string;
  /** Such as `wallet.secrets[0]`; empty for the whole file. */
  readonly path: string;
  readonly reason: string;
}

/** Invalid configuration; the message has one line per problem. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** One line for people: `operators/alpha.yaml: wallet.timeoutMs: must be at most 5000`. */
export function describeProblem({ file, path, reason }: Problem): string {
  return [file, path, reason].filter((part) => part !== '').join(': ');
}

/** The problem of a setting in `file`. */
export function problemIn(file: string, { path, reason }: SettingProblem): Problem {
  return { file, path: pathText(path), reason };
}

/** `['wallet', 'secrets', 0]` as `wallet.secrets[0]`; unusual keys are quoted. */
export function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else if (/^[\w-]+$/.test(part)) text += text === '' ? part : `.${part}`;
    else text += `[${JSON.stringify(part)}]`;
  }
  return text;
}
