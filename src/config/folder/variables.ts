import { randomBytes } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { FileReader } from './files.ts';
import { isOwnVariable } from './own-variables.ts';
import { realOf, type SecretPlaces } from './secret-folders.ts';

/** The part between the braces of `${NAME}` or `${file:/path}`. */
export type Expression = string;

export interface MaskedText {
  /** The text with every variable replaced by a harmless word; the number of lines is the same. */
  readonly text: string;
  /** The variables, by their word. */
  readonly words: ReadonlyMap<string, Expression>;
  /** Matches any of the words. */
  readonly wordPattern: RegExp;
}

export type Resolved =
  | {
      readonly ok: true;
      readonly value: string;
      /** Where it came from: `NAME`, or the real path of the file, whichever path named it. */
      readonly source: string;
    }
  | { readonly ok: false; readonly reason: string };

export type Resolve = (expression: Expression) => Resolved;

/** Replaces each variable by a word before YAML is parsed: its value is never parsed as YAML. */
export function maskVariables(source: string): MaskedText {
  // Random, so that the file's author cannot predict it and make it long.
  let stem = newStem();
  while (source.includes(stem)) stem = newStem();
  const words = new Map<string, Expression>();
  const text = source.replaceAll(/\$\{([^{}\n]*)\}/g, (_match, expression: string) => {
    // Ends in a letter, so that no word is a prefix of another.
    const word = `${stem}${words.size}N`;
    words.set(word, expression);
    return word;
  });
  return { text, words, wordPattern: new RegExp(`${stem}\\d+N`, 'g') };
}

function newStem(): string {
  return `VARIABLE${randomBytes(8).toString('hex')}X`;
}

/** The text as people wrote it, for messages: with the variables' names, never their values. */
export function unmask(text: string, { words, wordPattern }: MaskedText): string {
  return text.replaceAll(wordPattern, (word) => `\${${words.get(word) ?? ''}}`);
}

/** Resolves variables for the gateway's own file. An empty value counts as missing. */
export function createResolver(env: NodeJS.ProcessEnv, files: FileReader): Resolve {
  return (expression) => {
    const path = filePath(expression);
    if (path === undefined) return fromEnvironment(expression, env);
    if (isAbsolute(path)) files.watch(path);
    return fromFile(path, realOf(path), files);
  };
}

/** The same for operators' files: neither the gateway's own variables nor files outside the secret folders. */
export function createOperatorResolver(
  env: NodeJS.ProcessEnv,
  files: FileReader,
  places: SecretPlaces,
): Resolve {
  return (expression) => {
    const path = filePath(expression);
    if (path === undefined) {
      // Checked before the look-up, so as not to reveal whether it is set.
      return isOwnVariable(expression)
        ? {
            ok: false,
            reason: `\${${expression}} is the gateway's own: take one of the operator's`,
          }
        : fromEnvironment(expression, env);
    }
    // Before its links are followed. A link may also point to an allowed place later.
    if (isAbsolute(path)) files.watch(path);
    const place = places.of(path);
    if (place.ok || !isAbsolute(path)) {
      return fromFile(path, place.ok ? place.realPath : path, files);
    }
    return { ok: false, reason: `\${file:${path}}: the file ${place.reason}` };
  };
}

function filePath(expression: Expression): string | undefined {
  return expression.startsWith('file:') ? expression.slice('file:'.length) : undefined;
}

function fromEnvironment(name: string, env: NodeJS.ProcessEnv): Resolved {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
    const reason = `\${${name}} is not a variable: write \${NAME} or \${file:/path}`;
    return { ok: false, reason };
  }
  const value = env[name];
  if (value !== undefined && value !== '') return { ok: true, value, source: name };
  const state = value === undefined ? 'not set' : 'empty';
  return { ok: false, reason: `\${${name}}: the environment variable is ${state}` };
}

/** @param realPath the path with links followed */
function fromFile(path: string, realPath: string, files: FileReader): Resolved {
  const fail = (why: string): Resolved => ({ ok: false, reason: `\${file:${path}}: ${why}` });
  if (!isAbsolute(path)) return fail('the path must be absolute, such as /run/secrets/x');
  const read = files.read(path, realPath);
  if (!read.ok) return fail(`the file ${read.reason}`);
  const value = read.text.trim();
  return value === ''
    ? fail('the file is empty: put the value into it')
    : { ok: true, value, source: realPath };
}
