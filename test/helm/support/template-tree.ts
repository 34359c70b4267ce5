/** The parts of a parsed template. */
export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipe: Pipe }
  | { readonly kind: 'set'; readonly name: string; readonly pipe: Pipe }
  | {
      readonly kind: 'if' | 'with' | 'range';
      readonly pipe: Pipe;
      /** Names for the key and value of a `range`. */
      readonly names: readonly string[];
      readonly body: readonly Node[];
      readonly otherwise: readonly Node[];
    };

/** Commands, each of which gets the result of the previous one as its last argument. */
export type Pipe = readonly (readonly Term[])[];

export type Term =
  | { readonly kind: 'value'; readonly value: string | number }
  | { readonly kind: 'function'; readonly name: string }
  /** `.a.b`, `$x.a.b`, `(…).a`; `from` is `.` for the dot, `$` and `$x` for variables. */
  | { readonly kind: 'path'; readonly from: string | Pipe; readonly fields: readonly string[] };

interface Action {
  readonly text: string;
  readonly after: string;
}

/**
 * Parses Go's template language, as far as the chart uses it. Anything unknown is an error.
 * @returns the template's own nodes, and those of its `define`s
 */
export function parseTemplate(source: string): {
  readonly main: readonly Node[];
  readonly defined: ReadonlyMap<string, readonly Node[]>;
} {
  const [first, ...actions] = cut(source);
  const defined = new Map<string, readonly Node[]>();
  let position = 0;

  const parseNodes = (start: string, isInside: boolean): { nodes: Node[]; end: string } => {
    const nodes: Node[] = start === '' ? [] : [{ kind: 'text', text: start }];
    for (;;) {
      const action = actions[position];
      position += 1;
      if (action === undefined) {
        if (isInside) throw new Error('a block is not closed');
        return { nodes, end: '' };
      }
      const [, word = '', rest = ''] = /^(\w*)\s*([\s\S]*)$/.exec(action.text) ?? [];
      if (word === 'end' || word === 'else') {
        if (!isInside) throw new Error(`${word} without a block`);
        position -= word === 'else' ? 1 : 0;
        return { nodes, end: action.text };
      }
      if (word === 'define') {
        const body = parseNodes(action.after, true);
        defined.set(rest.replaceAll('"', ''), body.nodes);
        nodes.push({ kind: 'text', text: actions[position - 1]?.after ?? '' });
        continue;
      }
      if (word === 'if' || word === 'with' || word === 'range') {
        nodes.push(parseBlock(word, rest, action.after));
        nodes.push({ kind: 'text', text: actions[position - 1]?.after ?? '' });
        continue;
      }
      if (action.text !== '') nodes.push(parseStatement(action.text));
      nodes.push({ kind: 'text', text: action.after });
    }
  };

  const parseBlock = (kind: 'if' | 'with' | 'range', head: string, start: string): Node => {
    const declared = kind === 'range' ? /^((?:\$\w+)(?:,\s*\$\w+)?)\s*:=\s*/.exec(head) : null;
    const names = declared?.[1]?.split(/,\s*/) ?? [];
    const pipe = parsePipe(head.slice(declared?.[0].length ?? 0));
    const body = parseNodes(start, true);
    if (body.end === 'end') return { kind, pipe, names, body: body.nodes, otherwise: [] };
    const after = actions[position]?.after ?? '';
    position += 1;
    const chained = /^else\s+if\s+([\s\S]*)$/.exec(body.end);
    const otherwise =
      chained === null
        ? parseNodes(after, true).nodes
        : [parseBlock('if', chained[1] ?? '', after)];
    return { kind, pipe, names, body: body.nodes, otherwise };
  };

  const main = parseNodes(first?.after ?? '', false).nodes;
  return { main, defined };
}

function parseStatement(text: string): Node {
  const declared = /^(\$\w+)\s*:?=\s*([\s\S]*)$/.exec(text);
  if (declared === null) return { kind: 'print', pipe: parsePipe(text) };
  return { kind: 'set', name: declared[1] ?? '', pipe: parsePipe(declared[2] ?? '') };
}

/** Text and actions in turn; a dash inside the braces removes the white space next to them. */
function cut(source: string): Action[] {
  const actions: Action[] = [{ text: '', after: '' }];
  const pattern = /\{\{(-\s)?\s*((?:\/\*[\s\S]*?\*\/)|[\s\S]*?)\s*(\s-)?\}\}/g;
  let from = 0;
  let trimsNext = false;
  const keep = (text: string, trimsEnd: boolean) => {
    const trimmed = trimsNext ? text.trimStart() : text;
    const last = actions.at(-1);
    if (last !== undefined) {
      actions[actions.length - 1] = { ...last, after: trimsEnd ? trimmed.trimEnd() : trimmed };
    }
  };
  for (const match of source.matchAll(pattern)) {
    const [whole, trimsBefore, text = '', trimsAfter] = match;
    keep(source.slice(from, match.index), trimsBefore !== undefined);
    actions.push({ text: text.startsWith('/*') ? '' : text, after: '' });
    trimsNext = trimsAfter !== undefined;
    from = match.index + whole.length;
  }
  keep(source.slice(from), false);
  return actions;
}

const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|(-?\d+)|(\$?\w*(?:\.\w+)+|\$\w*|\.)|(\w+)|([|()]))/y;

function parsePipe(text: string): Pipe {
  const tokens: RegExpExecArray[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const token = TOKEN.exec(text);
    if (token === null) throw new Error(`not understood: ${text}`);
    tokens.push(token);
  }
  let position = 0;
  const parse = (): Pipe => {
    const commands: Term[][] = [[]];
    for (; position < tokens.length; position += 1) {
      const [, string, number, path, name, sign] = tokens[position] ?? [];
      const command = commands.at(-1) ?? [];
      if (sign === ')') return commands;
      if (sign === '|') commands.push([]);
      else if (sign === '(') {
        position += 1;
        command.push({ kind: 'path', from: parse(), fields: [] });
      } else if (string !== undefined) {
        command.push({ kind: 'value', value: String(JSON.parse(string)) });
      } else if (number !== undefined) command.push({ kind: 'value', value: Number(number) });
      else if (path !== undefined) command.push(pathOf(path));
      else command.push({ kind: 'function', name: name ?? '' });
    }
    return commands;
  };
  return parse();
}

function pathOf(text: string): Term {
  const [from = '', ...fields] = text.split('.');
  return { kind: 'path', from: from === '' ? '.' : from, fields: fields.filter(Boolean) };
}
