import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { parse } from '@babel/parser';
import type {
  ArrowFunctionExpression,
  ClassMethod,
  ClassPrivateMethod,
  FunctionDeclaration,
  FunctionExpression,
  Node,
  ObjectMethod,
  Statement,
} from '@babel/types';

const ROOT = resolve(import.meta.dirname, '../..');

export interface Import {
  /** The imported file, relative to the repository; packages are left out. */
  readonly from: string;
  /** The imported names; `*` for all of them, '' for none (only its effect). */
  readonly names: readonly string[];
}

interface Export {
  readonly name: string;
  /** A type that another export accepts or returns, so it need not be imported by name. */
  readonly isUsedHere: boolean;
}

export interface SourceFile {
  /** Relative to the repository. */
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  /** Exports that the file itself defines; re-exports are in `imports`. */
  readonly exports: readonly Export[];
  readonly functions: readonly FoundFunction[];
}

interface FoundFunction {
  readonly name: string;
  readonly lines: number;
  /** Whether it is written where it is assigned to a property: `call.callback = () => …`. */
  readonly isAssigned: boolean;
}

/** Every TypeScript file of these folders, parsed, except generated code. */
export function sourceFiles(...folders: readonly string[]): readonly SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
        join(folder, file),
      ),
    )
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('src/store/prisma-client/'))
    .sort()
    .map(sourceFile);
}

/** All direct and indirect imports of each file, types included. */
export function reachOf(sources: readonly SourceFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const importsOfPath = new Map(
    sources.map(({ path, imports }) => [path, imports.map(({ from }) => from)]),
  );
  const reach = new Map<string, ReadonlySet<string>>();
  for (const { path } of sources) {
    const seen = new Set<string>();
    const waiting = [...(importsOfPath.get(path) ?? [])];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      waiting.push(...(importsOfPath.get(next) ?? []));
    }
    reach.set(path, seen);
  }
  return reach;
}

function sourceFile(path: string): SourceFile {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const { program } = parse(text, {
    sourceType: 'module',
    plugins: path.endsWith('x') ? ['typescript', 'jsx'] : ['typescript'],
  });
  const functions: FoundFunction[] = [];
  const dynamic: Import[] = [];
  /** Seen before what is in them. */
  const assigned = new Set<Node>();
  walk(program, (node, parent) => {
    if (isFunction(node)) {
      const name = nameOf(node, parent);
      functions.push({ name, lines: linesOf(node), isAssigned: assigned.has(node) });
    }
    if (node.type === 'AssignmentExpression' || node.type === 'AssignmentPattern') {
      if (node.left.type === 'MemberExpression') assigned.add(withoutType(node.right));
    }
    const source = importedBy(node);
    if (source !== undefined) dynamic.push(...imported(path, source, ['*']));
  });
  return {
    path,
    lines: text.split('\n').length - 1,
    imports: [...program.body.flatMap((statement) => importsOf(path, statement)), ...dynamic],
    exports: program.body.flatMap((statement) => {
      const isType = statement.type === 'ExportNamedDeclaration' && statement.exportKind === 'type';
      return exportsOf(statement).map((name) => ({
        name,
        isUsedHere: isType && (text.match(new RegExp(`\\b${name}\\b`, 'g'))?.length ?? 0) > 1,
      }));
    }),
    functions,
  };
}

function importsOf(path: string, statement: Statement): Import[] {
  switch (statement.type) {
    case 'ImportDeclaration':
      return imported(
        path,
        statement.source.value,
        statement.specifiers.map((one) => {
          if (one.type === 'ImportNamespaceSpecifier') return '*';
          return one.type === 'ImportDefaultSpecifier' ? 'default' : exportedName(one.imported);
        }),
      );
    case 'ExportNamedDeclaration':
      return statement.source == null
        ? []
        : imported(
            path,
            statement.source.value,
            statement.specifiers.map((one) =>
              one.type === 'ExportSpecifier' ? exportedName(one.local) : '*',
            ),
          );
    case 'ExportAllDeclaration':
      return imported(path, statement.source.value, ['*']);
    default:
      return [];
  }
}

function imported(path: string, source: string, names: readonly string[]): Import[] {
  if (!source.startsWith('.')) return [];
  return [{ from: relative(ROOT, join(ROOT, dirname(path), source)), names }];
}

/** `import('…')` and `new URL('./file.ts', import.meta.url)`, which start a file. */
function importedBy(node: Node): string | undefined {
  if (node.type === 'ImportExpression') return textOf(node.source);
  const isUrl =
    node.type === 'NewExpression' && 'name' in node.callee && node.callee.name === 'URL';
  return isUrl ? textOf(node.arguments[0]) : undefined;
}

function textOf(node: Node | undefined): string | undefined {
  return node?.type === 'StringLiteral' ? node.value : undefined;
}

function exportsOf(statement: Statement): string[] {
  if (statement.type === 'ExportDefaultDeclaration') return ['default'];
  if (statement.type !== 'ExportNamedDeclaration' || statement.source != null) return [];
  const { declaration, specifiers } = statement;
  if (declaration == null) {
    return specifiers.flatMap((one) =>
      one.type === 'ExportSpecifier' ? [exportedName(one.exported)] : [],
    );
  }
  if (declaration.type === 'VariableDeclaration') {
    return declaration.declarations.flatMap(({ id }) => ('name' in id ? [String(id.name)] : []));
  }
  return 'id' in declaration && declaration.id != null && 'name' in declaration.id
    ? [String(declaration.id.name)]
    : [];
}

function exportedName(node: { type: string; name?: string; value?: string }): string {
  return node.name ?? node.value ?? '';
}

type AnyFunction =
  | FunctionDeclaration
  | FunctionExpression
  | ArrowFunctionExpression
  | ObjectMethod
  | ClassMethod
  | ClassPrivateMethod;

const FUNCTIONS: ReadonlySet<string> = new Set<AnyFunction['type']>([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ObjectMethod',
  'ClassMethod',
  'ClassPrivateMethod',
]);

function isFunction(node: Node): node is AnyFunction {
  return FUNCTIONS.has(node.type);
}

function nameOf(node: AnyFunction, parent: Node | undefined): string {
  const named = [node, parent].flatMap((one) =>
    one === undefined ? [] : ['id' in one ? one.id : 'key' in one ? one.key : undefined],
  );
  for (const name of named) {
    if (name == null || typeof name !== 'object') continue;
    if ('name' in name && typeof name.name === 'string') return name.name;
    if (name.type === 'PrivateName') return `#${name.id.name}`;
  }
  return `line ${node.loc?.start.line}`;
}

/** What `(… as T)` and `(… satisfies T)` are at run time. */
function withoutType(node: Node): Node {
  const isTyped = node.type === 'TSAsExpression' || node.type === 'TSSatisfiesExpression';
  return isTyped ? withoutType(node.expression) : node;
}

function linesOf({ loc }: Node): number {
  return loc == null ? 0 : loc.end.line - loc.start.line + 1;
}

function walk(
  node: Node,
  see: (node: Node, parent: Node | undefined) => void,
  parent?: Node,
): void {
  see(node, parent);
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) walk(child, see, node);
    }
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;
}
