import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { isCollection, LineCounter, type Node, parseDocument } from 'yaml';
import type { Problem } from '../problems.ts';
import { FileReader } from './files.ts';
import { maskVariables } from './variables.ts';

/** `.name`, `name`, `[0]`, `["odd name"]`: the parts that `pathText` writes. */
const PART = /\.?([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/gy;

/** @param path as in `Problem`, such as `wallet.secrets[0]` */
type LineOfPath = (path: string) => number | undefined;

const NOWHERE: LineOfPath = () => undefined;

/**
 * The line of a setting in a file, from 1; for a missing setting, the line where the group that lacks it
 * begins. Undefined if the file cannot be read or is not YAML. The file is parsed once: a large one takes
 * some tens of milliseconds, and may have many problems.
 * @param file a path
 */
export function linesOfFile(file: string): LineOfPath {
  const read = new FileReader().read(file);
  if (!read.ok) return NOWHERE;
  const lines = new LineCounter();
  const document = parseDocument(maskVariables(read.text).text, {
    ...({ version: '1.2', schema: 'core', stringKeys: true } as const),
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
  });
  if (document.errors.length > 0) return NOWHERE;
  return (path) => {
    for (let parts = partsOf(path); parts.length > 0; parts = parts.slice(0, -1)) {
      const at = startOf(document, parts);
      if (at !== undefined) return lines.linePos(at).line;
    }
    return undefined;
  };
}

/** The line of each problem's setting in the present file; undefined if it has none. */
export async function linesOfProblems(
  folder: string,
  problems: readonly Problem[],
): Promise<readonly (number | undefined)[]> {
  const files = new Map<string, LineOfPath>();
  const found: (number | undefined)[] = [];
  for (const { file, path, reason } of problems) {
    const said = /^line (\d+):/.exec(reason)?.[1];
    if (said !== undefined || path === '') {
      found.push(said === undefined ? undefined : Number(said));
      continue;
    }
    const known = files.get(file);
    // Yield to other work before another file is read.
    if (known === undefined) await otherWork();
    const lineOf = known ?? linesOfFile(join(folder, file));
    files.set(file, lineOf);
    found.push(lineOf(path));
  }
  return found;
}

/** Where the key starts, if there is one, because its value may start lines below. */
function startOf(
  document: ReturnType<typeof parseDocument>,
  parts: readonly (string | number)[],
): number | undefined {
  const [name, ...rest] = [...parts].reverse();
  const parent = document.getIn([...rest].reverse(), true);
  const owner = rest.length === 0 ? document.contents : parent;
  if (!isCollection(owner)) return undefined;
  for (const [index, item] of owner.items.entries()) {
    if (isPair(item)) {
      if (String(item.key) === String(name)) return rangeOf(item.key);
    } else if (index === name) return rangeOf(item);
  }
  return undefined;
}

interface PairLike {
  readonly key: unknown;
}

function isPair(item: unknown): item is PairLike {
  return typeof item === 'object' && item !== null && 'key' in item;
}

function rangeOf(node: unknown): number | undefined {
  return (node as Partial<Node> | null)?.range?.[0];
}

function partsOf(path: string): readonly (string | number)[] {
  return [...path.matchAll(PART)].map(([, name, index, quoted]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? (name ?? '') : String(JSON.parse(quoted));
  });
}
