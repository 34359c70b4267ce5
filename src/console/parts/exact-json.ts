/** JSON with line breaks and indentation added and every other character kept; other text unchanged. */
export function indentedJson(text: string): string {
  if (!isJson(text)) return text;
  let out = '';
  let depth = 0;
  let before = '';
  const breakLine = () => {
    out += `\n${'  '.repeat(depth)}`;
  };
  for (const token of tokensOf(text)) {
    switch (token) {
      case '{':
      case '[':
        depth += 1;
        out += token;
        breakLine();
        break;
      case '}':
      case ']':
        depth -= 1;
        if (isOpened(before)) out = out.trimEnd();
        else breakLine();
        out += token;
        break;
      case ',':
        out += token;
        breakLine();
        break;
      case ':':
        out += ': ';
        break;
      default:
        out += token;
    }
    before = token;
  }
  return out;
}

/** A bracket that is closed at once is empty and stays on its line. */
function isOpened(token: string): boolean {
  return token === '{' || token === '[';
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function tokensOf(text: string): readonly string[] {
  return text.match(TOKEN) ?? [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // A wallet may answer anything.
    return false;
  }
}

type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** The members of a JSON object as text; numbers keep their exact digits and never become floats. */
export function membersOf(text: string): Readonly<Record<string, string>> {
  // If a browser does not give a number's source text, the member is left out rather than rounded.
  const exact: Reviver = (_key, value, context) =>
    typeof value === 'number' ? context?.source : value;
  try {
    const value: unknown = JSON.parse(text, exact);
    if (typeof value !== 'object' || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    );
  } catch {
    return {};
  }
}
