import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, Scalar } from 'yaml';
import type { SettingProblem } from '../problems.ts';
import { type Expression, type MaskedText, type Resolve, unmask } from './variables.ts';

/** Each entry takes the parser some ten microseconds: up to this limit, callbacks are not delayed noticeably. */
const ENTRIES_MAX = 3000;

/** Characters that can begin or end an entry, or cause one more error. */
const STRUCTURE = /[[\]{},:?&*!|>%@`'"\\-]/g;

/** A value that came from variables, by `pathKey`. */
export interface Origin {
  /** The variables' names, for messages. */
  readonly names: readonly string[];
  /** Whether the value is a single unquoted variable, which may stand for a number. */
  readonly whole: boolean;
  readonly missing: boolean;
  /** Where the variables' contents came from. */
  readonly sources: readonly string[];
}

/** A parsed file as plain objects, lists, text, numbers and booleans; null becomes undefined. */
export interface YamlTree {
  readonly value: unknown;
  readonly origins: ReadonlyMap<string, Origin>;
  readonly problems: readonly SettingProblem[];
}

type Path = readonly (string | number)[];

/** Undefined if a variable is allowed at this path, otherwise the reason to show. */
export type VariableRule = (path: Path) => string | undefined;

const ANYWHERE: VariableRule = () => undefined;

/** A path as a key of a map. */
export const pathKey = (path: readonly PropertyKey[]): string => JSON.stringify(path.map(String));

/** The path of a key that `pathKey` has made; indexes are text. */
export const pathOf = (key: string): readonly string[] => JSON.parse(key);

/**
 * Parses the masked text (YAML 1.2 core schema, strict, unique keys) and puts the variables' values in.
 * Never throws: problems name the line if the text is not YAML, otherwise the path.
 */
export function parseYaml(
  masked: MaskedText,
  resolve: Resolve,
  rule: VariableRule = ANYWHERE,
): YamlTree {
  const nothing = (problems: readonly SettingProblem[]) => ({
    value: undefined,
    origins: new Map(),
    problems,
  });
  if (isTooLong(masked)) {
    const reason = `has more than ${ENTRIES_MAX} lines or entries: it must be a mistake`;
    return nothing([{ path: [], reason }]);
  }
  const lines = new LineCounter();
  const document = parseDocument(masked.text, {
    version: '1.2',
    schema: 'core',
    stringKeys: true,
    prettyErrors: false,
    lineCounter: lines,
  });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) {
    const lineOf = (fault: { pos: [number, number] }) => lines.linePos(fault.pos[0]).line;
    return nothing(
      faults.map((fault) => ({
        path: [],
        reason: `line ${lineOf(fault)}: ${explain(fault, masked)}`,
      })),
    );
  }
  const builder = new TreeBuilder(masked, resolve, rule);
  const value = builder.build(document.contents, []);
  if (value === undefined) return nothing([{ path: [], reason: 'the file is empty: fill it in' }]);
  return { value, origins: builder.origins, problems: builder.problems };
}

function isTooLong({ text, words }: MaskedText): boolean {
  if (words.size > ENTRIES_MAX) return true;
  const lineCount = text.split('\n', ENTRIES_MAX + 1).length;
  return lineCount > ENTRIES_MAX || (text.match(STRUCTURE)?.length ?? 0) > ENTRIES_MAX;
}

function explain(fault: { code: string; message: string }, masked: MaskedText): string {
  if (fault.code === 'MULTIPLE_DOCS') return 'the file must hold one document: remove the ---';
  if (fault.code === 'DUPLICATE_KEY') return 'the key is in this group twice: keep one of them';
  // The part after a colon quotes the file, which may contain a secret.
  const [message = ''] = fault.message.split(':');
  return `not valid YAML: ${unmask(message, masked)}`;
}

class TreeBuilder {
  readonly origins = new Map<string, Origin>();
  readonly problems: SettingProblem[] = [];
  readonly #masked: MaskedText;
  readonly #resolve: Resolve;
  readonly #rule: VariableRule;

  constructor(masked: MaskedText, resolve: Resolve, rule: VariableRule) {
    this.#masked = masked;
    this.#resolve = resolve;
    this.#rule = rule;
  }

  build(node: unknown, path: Path): unknown {
    if (isScalar(node)) return this.#scalar(node, path);
    if (isSeq(node)) return node.items.map((item, index) => this.build(item, [...path, index]));
    if (isMap(node)) {
      // fromEntries defines own properties, so that `__proto__` is a key like any other.
      return Object.fromEntries(
        node.items.map((pair) => {
          const key = this.#key(pair.key, path);
          return [key, this.build(pair.value, [...path, key])];
        }),
      );
    }
    if (isAlias(node)) {
      this.problems.push({ path, reason: 'aliases (*name) are not read: write the value out' });
    }
    return undefined;
  }

  #key(key: unknown, path: Path): string {
    const text = isScalar(key) ? String(key.value) : '';
    const shown = unmask(text, this.#masked);
    if (shown !== text) {
      this.problems.push({ path, reason: `the key ${shown} must not hold a variable` });
    }
    return shown;
  }

  #scalar(scalar: Scalar, path: Path): unknown {
    const { value } = scalar;
    // `delivery:` with everything below it commented out counts as left out, not as null.
    if (value === null) return undefined;
    if (typeof value !== 'string') return value;
    const words = value.match(this.#masked.wordPattern) ?? [];
    if (value.replaceAll(this.#masked.wordPattern, '').includes('${')) {
      this.problems.push({ path, reason: 'a variable begins that does not end: close it with }' });
    }
    if (words.length === 0) return value;
    return this.#substitute(scalar, value, words, path);
  }

  #substitute(scalar: Scalar, value: string, words: readonly string[], path: Path): string {
    const expressions = words.map((word) => this.#masked.words.get(word) ?? '');
    const refused = this.#rule(path);
    const resolved = new Map<Expression, string>();
    const sources = new Set<string>();
    for (const expression of new Set(expressions)) {
      // Not looked up where variables are not allowed, so as to reveal nothing about it.
      const outcome =
        refused === undefined
          ? this.#resolve(expression)
          : { ok: false as const, reason: `\${${expression}} ${refused}` };
      if (outcome.ok) {
        resolved.set(expression, outcome.value);
        sources.add(outcome.source);
      } else this.problems.push({ path, reason: outcome.reason });
    }
    this.origins.set(pathKey(path), {
      names: [...new Set(expressions)],
      whole: scalar.type === Scalar.PLAIN && value === words[0],
      missing: expressions.some((expression) => !resolved.has(expression)),
      sources: [...sources],
    });
    // A missing variable keeps its word, which is unique and so causes no further problem.
    return value.replaceAll(
      this.#masked.wordPattern,
      (word) => resolved.get(this.#masked.words.get(word) ?? '') ?? word,
    );
  }
}
