import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

export const CHART = resolve(import.meta.dirname, '../../../helm/wagergate');

export type Tree = Readonly<Record<string, unknown>>;

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function chartFile(path: string): string {
  return readFileSync(join(CHART, path), 'utf8');
}

/** Parsed as YAML 1.1, like Helm. */
export function chartYaml(path: string): Tree {
  const value: unknown = parse(chartFile(path), { version: '1.1' });
  if (!isTree(value)) throw new Error(`${path} is no mapping`);
  return value;
}

export interface Template {
  readonly name: string;
  readonly text: string;
  /** The actions between double braces, in order, without comments. */
  readonly actions: readonly string[];
}

export function templates(): readonly Template[] {
  return readdirSync(join(CHART, 'templates')).map((name) => {
    const text = chartFile(`templates/${name}`);
    const bare = text.replace(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g, '');
    const actions = [...bare.matchAll(/\{\{-?\s*([\s\S]*?)\s*-?\}\}/g)].map(
      ([, action = '']) => action,
    );
    return { name, text: bare, actions };
  });
}

/** The value at a dotted path; undefined if there is none. */
export function at(tree: unknown, path: string): unknown {
  let value = tree;
  for (const key of path.split('.')) value = isTree(value) ? value[key] : undefined;
  return value;
}

/** A copy with one value replaced. */
export function withValue(tree: Tree, path: string, value: unknown): Tree {
  const [key = '', ...rest] = path.split('.');
  const below = tree[key];
  const next =
    rest.length === 0 ? value : withValue(isTree(below) ? below : {}, rest.join('.'), value);
  return { ...tree, [key]: next };
}
