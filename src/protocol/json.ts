import { JsonError, type Member, scanJson } from './json-scan.ts';

export { JsonError } from './json-scan.ts';

/** How much structure a message may have. */
export interface JsonLimits {
  /** How deeply objects and arrays may be nested, the outermost included. */
  readonly depthMax: number;
}

const DEFAULT_LIMITS: JsonLimits = { depthMax: 64 };

// `ignoreBOM` keeps a byte order mark in the text, so that it can be refused instead of being dropped.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = 0xfeff;
/** No UTF-8 text begins with these bytes; some servers compress without being asked to. */
const GZIP = [0x1f, 0x8b] as const;

const LEADS_NUMBER = /^[-0-9]/;
/** Of valid JSON: strings, which stay, and the whitespace between tokens. */
const STRING_OR_SPACE = /("(?:[^"\\]|\\.)*")|[\t\n\r ]+/g;

/** The members of the outermost object, in order. */
interface ScannedObject {
  readonly members: readonly Member[];
  readonly hasSpace: boolean;
}

/** A JSON object with its exact text (I9), from which is cut what is sent on. */
export class JsonDocument {
  /** The exact source text. */
  readonly text: string;
  /** The result of `JSON.parse`, with numbers as binary doubles: never use those for money. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly #scanned: ScannedObject;
  /** The same document without whitespace, made when first needed. */
  #compacted: JsonDocument | undefined;

  /** For this module; documents come from `parseJsonObject`, `object` and `items`. */
  constructor(text: string, value: Readonly<Record<string, unknown>>, scanned: ScannedObject) {
    this.text = text;
    this.value = value;
    this.#scanned = scanned;
  }

  /** Whether the object has a member of that name, even if it is null. */
  has(name: string): boolean {
    return this.#member(name) !== undefined;
  }

  /** The exact source text of a member's value: `12.10`, `"x"`, `{...}`. */
  rawOf(name: string): string | undefined {
    const member = this.#member(name);
    return member === undefined ? undefined : this.text.slice(member.start, member.end);
  }

  /** The exact source text of a member that is a JSON number; undefined for anything else. */
  numberText(name: string): string | undefined {
    const raw = this.rawOf(name);
    return raw !== undefined && LEADS_NUMBER.test(raw) ? raw : undefined;
  }

  /** A member that is an object, as a separate document; undefined for anything else. */
  object(name: string): JsonDocument | undefined {
    const raw = this.rawOf(name);
    return raw === undefined ? undefined : documentOf(raw, this.value[name]);
  }

  /** The elements of a member that is an array, objects as documents; undefined for anything else. */
  items(name: string): readonly (JsonDocument | undefined)[] | undefined {
    const raw = this.rawOf(name);
    const value: unknown = this.value[name];
    if (raw === undefined || !Array.isArray(value)) return undefined;
    const { inside } = scanJson(raw, { notedDepthMax: 1 });
    const elements = inside?.kind === 'array' ? inside.elements : [];
    return elements.map(({ start, end }, index) => documentOf(raw.slice(start, end), value[index]));
  }

  /**
   * The object's text with members changed in place, appended, or (`undefined`) removed. All else stays, but
   * whitespace between tokens: some wallets verify a re-serialised body.
   * @param changes raw JSON text for each member, e.g. from `jsonString`
   */
  replace(changes: Readonly<Record<string, string | undefined>>): string {
    const { hasSpace, members } = this.#scanned;
    if (hasSpace) {
      const compact = this.text.replaceAll(STRING_OR_SPACE, '$1');
      this.#compacted ??= documentOfObject(compact, this.value);
      return this.#compacted.replace(changes);
    }
    const names = Object.keys(changes);
    const isSameSet = names.every((name) => changes[name] !== undefined && this.has(name));
    return isSameSet ? this.#spliced(members, changes) : this.#rebuilt(members, changes);
  }

  /** Every change replaces an existing value: the text between two changes is copied in one piece. */
  #spliced(members: readonly Member[], changes: Readonly<Record<string, string | undefined>>) {
    let result = '';
    let copiedUpTo = 0;
    for (const { name, start, end } of members) {
      const raw = Object.hasOwn(changes, name) ? changes[name] : undefined;
      if (raw === undefined) continue;
      result += this.text.slice(copiedUpTo, start) + raw;
      copiedUpTo = end;
    }
    return result + this.text.slice(copiedUpTo);
  }

  #rebuilt(members: readonly Member[], changes: Readonly<Record<string, string | undefined>>) {
    const left = new Map(Object.entries(changes));
    const kept: string[] = [];
    for (const { name, nameStart, start, end } of members) {
      if (!left.has(name)) {
        kept.push(this.text.slice(nameStart, end));
        continue;
      }
      const raw = left.get(name);
      left.delete(name);
      if (raw !== undefined) kept.push(this.text.slice(nameStart, start) + raw);
    }
    for (const [name, raw] of left) {
      if (raw !== undefined) kept.push(`${jsonString(name)}:${raw}`);
    }
    return `{${kept.join(',')}}`;
  }

  /** A linear search: hashing twenty names takes longer than the dozen look-ups of a message. */
  #member(name: string): Member | undefined {
    return this.#scanned.members.find((member) => member.name === name);
  }
}

/**
 * Reads a message that must be one JSON object: `JSON.parse` checks it, one scan finds the positions.
 * @throws JsonError when it is compressed, not strict UTF-8, with a byte order mark, not JSON or no object, too
 * deep, or has a name twice in one object
 */
export function parseJsonObject(bytes: Buffer, limits: JsonLimits = DEFAULT_LIMITS): JsonDocument {
  const text = decode(bytes);
  const value = parse(text);
  if (!isObject(value)) throw new JsonError('the body must be a JSON object');
  return documentAsScanned(text, value, limits);
}

/** The same for bytes that may well be something else: the error is then returned, not thrown. */
export function jsonObjectOrError(bytes: Buffer): JsonDocument | JsonError {
  try {
    return parseJsonObject(bytes);
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
}

/** The same where it does not matter why it is none. */
export function jsonObjectIn(bytes: Buffer): JsonDocument | undefined {
  const document = jsonObjectOrError(bytes);
  return document instanceof JsonError ? undefined : document;
}

/**
 * `JSON.parse` of V8 13.6 may confuse a name with an escape with an earlier one. If a name has an escape, the
 * values are stored under the scanner's names.
 */
function documentAsScanned(
  text: string,
  value: Readonly<Record<string, unknown>>,
  limits: Partial<JsonLimits>,
): JsonDocument {
  const { inside, hasSpace } = scanJson(text, { ...limits, notedDepthMax: 1 });
  const members = inside?.kind === 'object' ? inside.members : [];
  const scanned = { members, hasSpace };
  const isPlain = members.every(({ name, nameStart }) => text.startsWith(name, nameStart + 1));
  if (isPlain) return new JsonDocument(text, value, scanned);
  const entries = members.map(
    ({ name, start, end }) => [name, parse(text.slice(start, end))] as const,
  );
  return new JsonDocument(text, Object.fromEntries(entries), scanned);
}

/** A string as JSON text. A lone surrogate becomes its escape, so the text is valid UTF-8. */
export function jsonString(value: string): string {
  return JSON.stringify(value);
}

/**
 * Finds a member's text in unverified bytes without parsing them; a caller parses afterwards and compares.
 * @param name letters only; not found if written with escapes @param valueBytesMax a longer value counts as none
 * @returns for the first member of that name whose value is such a string
 */
export function textFinder(
  name: string,
  valueBytesMax: number,
): (bytes: Buffer) => string | undefined {
  const value = `"(?:[^"\\\\]|\\\\.){0,${valueBytesMax}}"`;
  const member = new RegExp(`"${name}"[\\t\\n\\r ]*:[\\t\\n\\r ]*(${value})`);
  return (bytes) => {
    const [, raw = ''] = member.exec(bytes.toString('latin1')) ?? [];
    if (raw === '' || raw.length > valueBytesMax + 2) return undefined;
    try {
      return String(JSON.parse(Buffer.from(raw, 'latin1').toString()));
    } catch {
      // Not a JSON string, for example with a line break in it: then the body is not JSON either.
      return undefined;
    }
  };
}

function decode(bytes: Buffer): string {
  if (bytes[0] === GZIP[0] && bytes[1] === GZIP[1]) {
    throw new JsonError('the body is compressed (gzip)');
  }
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new JsonError('the body is not valid UTF-8', undefined, { cause });
  }
  if (text.charCodeAt(0) === BYTE_ORDER_MARK) {
    throw new JsonError('the body must not start with a byte order mark');
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No `cause`: its message quotes the body, and a log would show that.
    throw new JsonError('the body is not valid JSON');
  }
}

function documentOf(raw: string, value: unknown): JsonDocument | undefined {
  return isObject(value) ? documentOfObject(raw, value) : undefined;
}

/** For text that was already scanned as part of a larger one: no limit remains to be checked. */
function documentOfObject(text: string, value: Readonly<Record<string, unknown>>): JsonDocument {
  return documentAsScanned(text, value, {});
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
