import { readFileSync } from 'node:fs';
import { fileFault } from '../../lib/faults.ts';
import { UsageError } from '../failures.ts';

/** The ways to give a secret text: itself, an environment variable, a file. */
export interface SecretSource {
  /** The name of the options, such as `--token`. */
  readonly option: string;
  readonly value: string | undefined;
  readonly env: string | undefined;
  readonly file: string | undefined;
}

/**
 * A token or secret from one of its sources, trimmed; undefined if no source is given.
 * @throws UsageError when several are given, or the given one has no value
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
  // Used as one secret, the wallet would seem to refuse good signatures.
  if (/[\r\n]/.test(text)) throw new UsageError(`${file} (${option}-file) must hold one line`);
  return text;
}
