import { randomBytes } from 'node:crypto';
import { isAbsolute } from 'node:path';
import type { FileReader } from './files.ts';
import { isOwnVariable } from './own-variables.ts';
import { realOf, type SecretPlaces } from './secret-folders.ts';

/** `${NAME}` or `${file:/path}` as it stands in a file: the part between the braces. */
export type Expression = string;

export interface MaskedText {
  /** The text with a harmless word in place of every variable, of the same number of lines. */
  readonly text: string;
  /** The variables by their word. */
  readonly words: ReadonlyMap<string, Expression>;
  /** Matches any of the words. */
  readonly wordPattern: RegExp;
}

export type Resolved =
  | {
      readonly ok: true;
      readonly value: string;
      /** Where it came from, whatever name the file gave it: `NAME`, or the file's real path. */
      readonly source: string;
    }
  | { readonly ok: false; readonly reason: string };

export type Resolve = (expression: Expression) => Resolved;

/**
 * Puts a word in place of each variable before YAML is parsed. So `[${SECRET}]`, which is no YAML,
 * can be written, what a variable holds can never become YAML, and a comment needs no variables.
 */
export function maskVariables(source: string): MaskedText {
  // One that the author of a file cannot foresee: a stem that is made longer until it is not in the
  // file could be made as long as the file, and stands there as often as its variables.
  let stem = newStem();
  while (source.includes(stem)) stem = newStem();
  const words = new Map<string, Expression>();
  const text = source.replaceAll(/\$\{([^{}\n]*)\}/g, (_match, expression: string) => {
    // Ends in a letter so that no word is the beginning of another.
    const word = `${stem}${words.size}N`;
    words.set(word, expression);
    return word;
  });
  return { text, words, wordPattern: new RegExp(`${stem}\\d+N`, 'g') };
}

function newStem(): string {
  return `VARIABLE${randomBytes(8).toString('hex')}X`;
}

/** The text as people wrote it, for messages: variables by their name, never their content. */
export function unmask(text: string, { words, wordPattern }: MaskedText): string {
  return text.replaceAll(wordPattern, (word) => `\${${words.get(word) ?? ''}}`);
}

/**
 * Resolves variables from the environment and from files, for the gateway's own file. An empty one
 * counts as missing: it is the usual shape of a secret that did not arrive.
 */
export function createResolver(env: NodeJS.ProcessEnv, files: FileReader): Resolve {
  return (expression) => {
    const path = filePath(expression);
    return path === undefined
      ? fromEnvironment(expression, env)
      : fromFile(path, realOf(path), files);
  };
}

/**
 * The same for operators' files, which others may write: neither the gateway's own variables nor
 * files outside of the secret folders can be named.
 */
export function createOperatorResolver(
  env: NodeJS.ProcessEnv,
  files: FileReader,
  places: SecretPlaces,
): Resolve {
  return (expression) => {
    const path = filePath(expression);
    if (path === undefined) {
      // Before it is looked up: not even whether it is set is told.
      return isOwnVariable(expression)
        ? {
            ok: false,
            reason: `\${${expression}} is the gateway's own: take one of the operator's`,
          }
        : fromEnvironment(expression, env);
    }
    const place = places.of(path);
    if (place.ok || !isAbsolute(path)) {
      return fromFile(path, place.ok ? place.realPath : path, files);
    }
    // A link may lead to the right place later.
    files.watch(path);
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

/** @param realPath where the path was seen to lead */
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
