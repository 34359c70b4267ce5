import { readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { unreachable } from '../../../src/domain/unreachable.ts';
import { CHART, chartFile, chartYaml, isTree, type Tree } from './chart.ts';
import { FUNCTIONS, isTruthy, printed } from './template-functions.ts';
import { type Node, type Pipe, parseTemplate, type Term } from './template-tree.ts';

/** What the cluster has of this kind, in this namespace, with this name; `{}` if nothing. */
export type Lookup = (path: string) => Tree;

/**
 * Renders the chart with these values over its own, as `helm template gw helm/wagergate --namespace betting` would;
 * the tests run without Helm. Knows only the parts of Go's templates that the chart uses, and fails on anything
 * else.
 * @param lookup what the chart finds in the cluster; default: nothing, as without a cluster
 * @returns the manifests, in the order of the templates' names
 */
export function renderChart(values: Tree, lookup: Lookup = () => ({})): readonly Tree[] {
  return [...renderTexts(values, lookup)]
    .filter(([name]) => name.endsWith('.yaml'))
    .flatMap(([name, text]) => manifestsIn(name, text));
}

/** The notes shown after an installation. */
export function renderNotes(values: Tree): string {
  return renderTexts(values, () => ({})).get('NOTES.txt') ?? '';
}

function renderTexts(values: Tree, lookup: Lookup): ReadonlyMap<string, string> {
  const parsed = readdirSync(join(CHART, 'templates'))
    .sort()
    .map((name) => ({ name, ...parseTemplate(chartFile(`templates/${name}`)) }));
  const renderer = new Renderer(new Map(parsed.flatMap(({ defined }) => [...defined])), lookup);
  const data = {
    Values: merged(chartYaml('values.yaml'), values),
    Chart: chartFacts(),
    Release: { Name: 'gw', Namespace: 'betting', Service: 'Helm' },
    Files: { Get: chartFile, Glob: filesIn },
  };
  return new Map(
    parsed
      .filter(({ name }) => extname(name) !== '.tpl')
      .map(({ name, main }) => [name, renderer.render(main, data)]),
  );
}

function manifestsIn(name: string, text: string): Tree[] {
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`${name}: ${error.message}\n${text}`);
    const manifest: unknown = document.toJS();
    return isTree(manifest) ? [manifest] : [];
  });
}

class Renderer {
  readonly #defined: ReadonlyMap<string, readonly Node[]>;
  readonly #lookup: Lookup;

  constructor(defined: ReadonlyMap<string, readonly Node[]>, lookup: Lookup) {
    this.#defined = defined;
    this.#lookup = lookup;
  }

  render(nodes: readonly Node[], data: unknown): string {
    return this.#nodes(nodes, data, new Map([['$', data]]));
  }

  #nodes(nodes: readonly Node[], dot: unknown, outer: ReadonlyMap<string, unknown>): string {
    const variables = new Map(outer);
    return nodes.map((node) => this.#node(node, dot, variables)).join('');
  }

  #node(node: Node, dot: unknown, variables: Map<string, unknown>): string {
    switch (node.kind) {
      case 'text':
        return node.text;
      case 'print':
        return printed(this.#pipe(node.pipe, dot, variables));
      case 'set':
        variables.set(node.name, this.#pipe(node.pipe, dot, variables));
        return '';
      case 'if':
      case 'with': {
        const value = this.#pipe(node.pipe, dot, variables);
        if (!isTruthy(value)) return this.#nodes(node.otherwise, dot, variables);
        return this.#nodes(node.body, node.kind === 'with' ? value : dot, variables);
      }
      case 'range': {
        const entries = entriesOf(this.#pipe(node.pipe, dot, variables));
        if (entries.length === 0) return this.#nodes(node.otherwise, dot, variables);
        const [keyName = '', valueName = ''] = node.names;
        return entries
          .map(([key, value]) => {
            const inner = new Map(variables).set(keyName, key).set(valueName, value);
            return this.#nodes(node.body, value, inner);
          })
          .join('');
      }
      default:
        return unreachable(node);
    }
  }

  #pipe(pipe: Pipe, dot: unknown, variables: ReadonlyMap<string, unknown>): unknown {
    let result: unknown;
    for (const [index, [head, ...rest]] of pipe.entries()) {
      if (head === undefined) throw new Error('an empty command');
      const args = rest.map((term) => this.#term(term, dot, variables));
      result = this.#call(head, index === 0 ? args : [...args, result], dot, variables);
    }
    return result;
  }

  #call(
    head: Term,
    args: readonly unknown[],
    dot: unknown,
    variables: ReadonlyMap<string, unknown>,
  ): unknown {
    if (head.kind === 'function') {
      if (head.name === 'include') {
        const [name, data] = args;
        const nodes = this.#defined.get(printed(name));
        if (nodes === undefined) throw new Error(`${printed(name)} is not defined`);
        return this.render(nodes, data);
      }
      if (head.name === 'lookup') {
        const [, kind, namespace, name] = args.map(printed);
        return this.#lookup(`${kind}/${namespace}/${name}`);
      }
      const called = FUNCTIONS[head.name];
      if (called === undefined) throw new Error(`the tests do not know the function ${head.name}`);
      return called(...args);
    }
    const value = this.#term(head, dot, variables);
    return typeof value === 'function' ? value(...args) : value;
  }

  #term(term: Term, dot: unknown, variables: ReadonlyMap<string, unknown>): unknown {
    switch (term.kind) {
      case 'value':
        return term.value;
      case 'function':
        return this.#call(term, [], dot, variables);
      case 'path': {
        const { from } = term;
        if (typeof from !== 'string') return this.#pipe(from, dot, variables);
        if (from !== '.' && !variables.has(from)) throw new Error(`${from} is not declared`);
        let value = from === '.' ? dot : variables.get(from);
        for (const field of term.fields) value = isTree(value) ? value[field] : undefined;
        return value;
      }
      default:
        return unreachable(term);
    }
  }
}

function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (Array.isArray(value)) return [...value.entries()];
  if (!isTree(value)) return [];
  return Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
}

function chartFacts(): Tree {
  const { name, version, appVersion } = chartYaml('Chart.yaml');
  return { Name: name, Version: version, AppVersion: appVersion };
}

function filesIn(pattern: string): Tree {
  const folder = pattern.replace(/\/\*\.\w+$/, '');
  const names = readdirSync(join(CHART, folder)).filter((name) => name.endsWith(extname(pattern)));
  return Object.fromEntries(names.map((name) => [`${folder}/${name}`, true]));
}

function merged(base: Tree, over: Tree): Tree {
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = result[key];
    result[key] = isTree(before) && isTree(value) ? merged(before, value) : value;
  }
  return result;
}
