import { z } from 'zod';
import { type Origin, pathKey, type YamlTree } from './folder/yaml-tree.ts';
import { PROBLEMS_SHOWN_MAX, type SettingProblem } from './problems.ts';

export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly SettingProblem[] };

type Issue = z.core.$ZodIssue;

/** Issues about the type of a value: converting a variable's text may solve them. */
const KIND_ISSUES: readonly Issue['code'][] = ['invalid_type', 'invalid_value', 'invalid_union'];

/** Checks a parsed file and fills in the defaults. An unquoted variable may become a number or boolean. */
export function checkTree<T>(schema: z.ZodType<T>, tree: YamlTree): Checked<T> {
  if (tree.value === undefined) return { ok: false, problems: tree.problems };
  let knownKeys = new Map<string, readonly string[]>();
  const parse = () => {
    knownKeys = new Map();
    return schema.safeParse(tree.value, {
      error: (issue) => {
        if (issue.code === 'unrecognized_keys') {
          knownKeys.set(pathKey(issue.path ?? []), keysOf(issue.inst));
        }
        return explain(issue);
      },
    });
  };

  let parsed = parse();
  if (!parsed.success && convertVariables(tree, parsed.error.issues)) parsed = parse();
  if (parsed.success && tree.problems.length === 0) return { ok: true, value: parsed.data };

  const issues = parsed.success ? [] : parsed.error.issues;
  const problems = issues.flatMap((issue) => toProblems(issue, knownKeys, tree.origins));
  return { ok: false, problems: [...tree.problems, ...problems] };
}

/** Writes converted variables into the tree. @returns whether there were any */
function convertVariables(tree: YamlTree, issues: readonly Issue[]): boolean {
  let converted = false;
  for (const { code, path } of issues) {
    if (!KIND_ISSUES.includes(code) || tree.origins.get(pathKey(path))?.whole !== true) continue;
    const parent = path.slice(0, -1).reduce<unknown>(memberOf, tree.value);
    const name = path.at(-1);
    if (!isObject(parent) || name === undefined) continue;
    const value = asNumberOrBoolean(parent[name]);
    if (value === undefined) continue;
    parent[name] = value;
    converted = true;
  }
  return converted;
}

function asNumberOrBoolean(value: unknown): number | boolean | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function toProblems(
  issue: Issue,
  knownKeys: ReadonlyMap<string, readonly string[]>,
  origins: ReadonlyMap<string, Origin>,
): SettingProblem[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  if (issue.code === 'unrecognized_keys') {
    const known = knownKeys.get(pathKey(path)) ?? [];
    return issue.keys.map((key, at) => ({
      path: [...path, key],
      // Later ones are not shown anyway, and an unrelated file may have a thousand keys.
      reason:
        at < PROBLEMS_SHOWN_MAX
          ? `is not a known key; known here: ${known.join(', ')}`
          : 'is not a known key',
    }));
  }
  const origin = origins.get(pathKey(path));
  // A missing variable is already reported as a problem.
  if (origin?.missing) return [];
  const from = origin?.names.map((name) => `\${${name}}`).join(', ');
  return [{ path, reason: from === undefined ? issue.message : `${issue.message} (from ${from})` }];
}

/** An issue's message for people: what to do, never the value, which may be a secret. */
function explain(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input !== undefined)
        return `must be ${expectedKinds(issue)}, not ${kindOf(issue.input)}`;
      const description = issue.inst instanceof z.ZodType ? issue.inst.description : undefined;
      return `is missing: add it${description === undefined ? '' : ` (${description})`}`;
    }
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      return issue.origin === 'array'
        ? `needs at least ${issue.minimum} entry`
        : `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'is not an allowed key';
    case 'unrecognized_keys':
      return 'is not a known key';
    default:
      return issue.message ?? 'is not an allowed value';
  }
}

const KIND_WORDS: Record<string, string> = {
  string: 'text (put it in quotes)',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list, such as [a, b]',
  object: 'a group of keys',
  record: 'a group of keys',
};

function expectedKinds(issue: { expected: string; inst?: unknown }): string {
  const wholeNumber = issue.inst instanceof z.ZodNumberFormat;
  return KIND_WORDS[wholeNumber ? 'int' : issue.expected] ?? issue.expected;
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'infinity';
    return Number.isInteger(value) ? 'a number' : 'a fraction';
  }
  if (typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? 'a list' : 'a group of keys';
}

function keysOf(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

function memberOf(value: unknown, name: PropertyKey): unknown {
  return isObject(value) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<PropertyKey, unknown> {
  return typeof value === 'object' && value !== null;
}
