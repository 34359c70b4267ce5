import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { freezeDeep } from '../../lib/deep-readonly.ts';
import { checkTree } from '../check.ts';
import { PROBLEMS_SHOWN_MAX, type Problem, problemIn } from '../problems.ts';
import type { FileReader } from './files.ts';
import { isOwnedSecret } from './secret-paths.ts';
import { type Expression, maskVariables, type Resolve, type Resolved } from './variables.ts';
import { parseYaml, pathOf, type VariableRule, type YamlTree } from './yaml-tree.ts';

/** A file after reading: its checked content, or why there is none. */
export type CheckedFile<T> =
  | {
      readonly ok: true;
      readonly file: string;
      readonly value: T;
      readonly sources: VariableSources;
    }
  | { readonly ok: false; readonly file: string; readonly problems: readonly Problem[] };

/** Where the contents of a file's variables came from: an environment variable or a file's path. */
export interface VariableSources {
  /** Sources of secrets, with the path of the setting. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
  readonly others: ReadonlySet<string>;
}

interface Remembered<T> {
  readonly text: string;
  /** The values of the variables in it. */
  readonly variables: ReadonlyMap<Expression, Resolved>;
  readonly result: CheckedFile<T>;
}

/** The rules for files of one kind. */
export interface FileRules<T> {
  readonly schema: z.ZodType<T>;
  readonly resolve: Resolve;
  /** Where variables are allowed; default: anywhere. */
  readonly variableRule?: VariableRule;
}

/** Reads and checks the files of one schema; an unchanged file yields the previous result object. */
export class CheckedFiles<T> {
  readonly #folder: string;
  readonly #rules: FileRules<T>;
  readonly #files: FileReader;
  readonly #remembered = new Map<string, Remembered<T>>();

  constructor(folder: string, files: FileReader, rules: FileRules<T>) {
    this.#folder = folder;
    this.#files = files;
    this.#rules = rules;
  }

  /** @param file relative to the folder */
  read(file: string): CheckedFile<T> {
    const path = join(this.#folder, file);
    const read = this.#files.read(path);
    if (!read.ok) {
      const problem = { file, path: '', reason: `the file ${path} ${read.reason}` };
      return { ok: false, file, problems: [problem] };
    }
    const before = this.#remembered.get(file);
    if (before?.text === read.text && this.#resolvesTo(before.variables)) return before.result;

    const variables = new Map<Expression, Resolved>();
    const result = this.#check(file, read.text, (expression) => {
      const resolved = variables.get(expression) ?? this.#rules.resolve(expression);
      variables.set(expression, resolved);
      return resolved;
    });
    this.#remembered.set(file, { text: read.text, variables, result });
    return result;
  }

  /** Forgets the files that are no longer there. */
  keepOnly(files: readonly string[]): void {
    const kept = new Set(files);
    for (const file of this.#remembered.keys()) {
      if (!kept.has(file)) this.#remembered.delete(file);
    }
  }

  #resolvesTo(variables: ReadonlyMap<Expression, Resolved>): boolean {
    // Not `some`, which would stop early: resolving each one keeps its file watched.
    const differing = [...variables].filter(
      ([expression, resolved]) => !isDeepStrictEqual(this.#rules.resolve(expression), resolved),
    );
    return differing.length === 0;
  }

  #check(file: string, text: string, resolve: Resolve): CheckedFile<T> {
    const { schema, variableRule } = this.#rules;
    const tree = parseYaml(maskVariables(text), resolve, variableRule);
    const checked = checkTree(schema, tree);
    if (checked.ok) {
      return { ok: true, file, value: freezeDeep(checked.value), sources: sourcesOf(tree) };
    }
    const shown = checked.problems.slice(0, PROBLEMS_SHOWN_MAX);
    const problems = shown.map((it) => problemIn(file, it));
    const left = checked.problems.length - shown.length;
    if (left > 0) problems.push({ file, path: '', reason: `has ${left} more problems` });
    return { ok: false, file, problems };
  }
}

function sourcesOf({ origins }: YamlTree): VariableSources {
  const secrets = new Map<string, readonly string[]>();
  const others = new Set<string>();
  for (const [key, origin] of origins) {
    const path = pathOf(key);
    for (const source of origin.sources) {
      if (isOwnedSecret(path)) secrets.set(source, path);
      else others.add(source);
    }
  }
  return { secrets, others };
}
