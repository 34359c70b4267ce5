import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { parse, stringify } from 'yaml';
import { isTree } from './chart.ts';

/** As in Go's templates: zero, nil and everything empty is false. */
export function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isTree(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

export function printed(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

const LIKE_GO = { version: '1.1', sortMapEntries: true, indentSeq: false, lineWidth: 0 } as const;

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isTree(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

type TemplateFunction = (...args: unknown[]) => unknown;

const indented = (width: unknown, text: unknown) =>
  printed(text).replace(/^/gm, ' '.repeat(Number(width)));

/** The functions of Go, Sprig and Helm that the chart uses; `include` is the renderer's own. */
export const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  eq: (one, other) => one === other,
  ne: (one, other) => one !== other,
  lt: (one, other) => Number(one) < Number(other),
  not: (value) => !isTruthy(value),
  add: (...numbers) => numbers.reduce<number>((sum, number) => sum + Number(number), 0),
  int: (value) => Math.trunc(Number(value)),
  default: (fallback, value) => (isTruthy(value) ? value : fallback),
  required: (why, value) => {
    if (value === undefined || value === null || value === '') throw new Error(printed(why));
    return value;
  },
  fail: (why) => {
    throw new Error(printed(why));
  },
  dict: (...pairs) => {
    const made: Record<string, unknown> = {};
    for (let index = 0; index < pairs.length; index += 2) {
      made[printed(pairs[index])] = pairs[index + 1];
    }
    return made;
  },
  list: (...items) => items,
  dig: (...args) => {
    const [tree, fallback, ...path] = args.reverse();
    let found: unknown = tree;
    for (const key of path.reverse()) found = isTree(found) ? found[printed(key)] : undefined;
    return found ?? fallback;
  },
  merge: (first, second) => ({
    ...(isTree(second) ? second : {}),
    ...(isTree(first) ? first : {}),
  }),
  printf: (format, ...args) => printed(format).replace(/%s/g, () => printed(args.shift())),
  join: (separator, list) =>
    (Array.isArray(list) ? list : [])
      .map((item: unknown) => printed(item))
      .join(printed(separator)),
  quote: (value) => JSON.stringify(printed(value)),
  trunc: (length, text) => printed(text).slice(0, Number(length)),
  trimSuffix: (end, text) => {
    const [suffix, whole] = [printed(end), printed(text)];
    return whole.endsWith(suffix) ? whole.slice(0, whole.length - suffix.length) : whole;
  },
  contains: (part, text) => printed(text).includes(printed(part)),
  regexMatch: (pattern, text) => new RegExp(printed(pattern)).test(printed(text)),
  replace: (from, to, text) => printed(text).replaceAll(printed(from), printed(to)),
  lower: (text) => printed(text).toLowerCase(),
  base: (path) => basename(printed(path)),
  b64enc: (text) => Buffer.from(printed(text)).toString('base64'),
  sha256sum: (text) => createHash('sha256').update(printed(text)).digest('hex'),
  toJson: (value) => JSON.stringify(sorted(value)),
  toYaml: (value) => stringify(value, LIKE_GO).trimEnd(),
  fromYaml: (text): unknown => parse(printed(text), { version: '1.1' }),
  nindent: (width, text) => `\n${indented(width, text)}`,
};
