import { readFileSync } from 'node:fs';
import { fileFault, UsageError } from './failures.ts';

/** The ways to name a secret text: itself, a variable of the environment, a file. */
export interface SecretSource {
  /** As the options are called, such as `--token`. */
  readonly option: string;
  readonly value: string | undefined;
  readonly env: string | undefined;
  readonly file: string | undefined;
}

/**
 * A token or secret from one of its sources; whitespace around it in a file does not count.
 * @returns undefined where none is named
 * @throws UsageError when several are, or the one that is named leads to nothing
 */
export function secretText(
  { option, value, env, file }: SecretSource,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  const named = [value, env, file].filter((one) => one !== undefined);
  if (named.length > 1)
    throw new UsageError(`give one of ${option}, ${option}-env and ${option}-file`);
  if (env !== undefined) {
    const found = environment[env];
    if (found !== undefined && found !== '') return found;
    throw new UsageError(`the environment variable ${env} (${option}-env) is not set`);
  }
  if (file !== undefined) return fromFile(option, file);
  if (value === '') throw new UsageError(`${option} is empty`);
  return value;
}

function fromFile(option: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`${file} (${option}-file) ${fileFault(error)}`, { cause: error });
  }
  if (text === '') throw new UsageError(`${file} (${option}-file) is empty`);
  // Taken as one, the wallet would be certified as refusing good signatures.
  if (/[\r\n]/.test(text)) throw new UsageError(`${file} (${option}-file) must hold one line`);
  return text;
}
