import { JsonError, type Member, type Scanned, scanJson } from './json-scan.ts';

export { JsonError } from './json-scan.ts';

/** How much structure a message may have. */
export interface JsonLimits {
  /** How many objects and arrays may stand inside one another, the outermost included. */
  readonly depthMax: number;
}

const DEFAULT_LIMITS: JsonLimits = { depthMax: 64 };

// `ignoreBOM` keeps a byte order mark in the text, so that it can be refused instead of swallowed.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const BYTE_ORDER_MARK = 0xfeff;
/** No UTF-8 begins so; some servers compress although nobody asked for it. */
const GZIP = [0x1f, 0x8b] as const;

const LEADS_NUMBER = /^[-0-9]/;

/**
 * A JSON object together with its exact text (I9). It is read through `value`, but what is passed
 * on is cut from `text`: numbers keep every digit, unknown members and their order survive.
 */
export class JsonDocument {
  /** The source, byte for byte as it came. */
  readonly text: string;
  /** As `JSON.parse` gives it, numbers as binary doubles: never use those for money. */
  readonly value: Readonly<Record<string, unknown>>;
  readonly #scanned: Scanned;
  /** The same without whitespace, once that was needed. */
  #compacted: JsonDocument | undefined;

  /** For this module; documents come from `parseJsonObject`, `object` and `items`. */
  constructor(text: string, value: Readonly<Record<string, unknown>>, scanned: Scanned) {
    this.text = text;
    this.value = value;
    this.#scanned = scanned;
  }

  /** Whether the object has a member of that name, be it null. */
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

  /** A member that is an object, as a document of its own; undefined for anything else. */
  object(name: string): JsonDocument | undefined {
    const raw = this.rawOf(name);
    return raw === undefined ? undefined : documentOf(raw, this.value[name]);
  }

  /**
   * The elements of a member that is an array, those that are objects as documents of their own
   * and the others as undefined; undefined for a member that is no array.
   */
  items(name: string): readonly (JsonDocument | undefined)[] | undefined {
    const raw = this.rawOf(name);
    const value: unknown = this.value[name];
    if (raw === undefined || !Array.isArray(value)) return undefined;
    const { elements } = scanJson(raw, Number.POSITIVE_INFINITY);
    return elements.map(({ start, end }, index) => documentOf(raw.slice(start, end), value[index]));
  }

  /**
   * The object's text with some members changed: a name that is there gets the new value in its
   * place, one that is not is appended, `undefined` takes a member out. Everything else stays
   * verbatim, except that whitespace between tokens is dropped: there are wallets that verify a
   * signature by parsing and re-serialising the body, and those want compact JSON
   * (docs/protocol.md, How real wallets deviate).
   *
   * @param changes raw JSON text for each member, e.g. from `jsonString`
   */
  replace(changes: Readonly<Record<string, string | undefined>>): string {
    const { compact, members } = this.#scanned;
    if (compact !== this.text) {
      this.#compacted ??= documentOfObject(compact, this.value);
      return this.#compacted.replace(changes);
    }
    const names = Object.keys(changes);
    const isSameSet = names.every((name) => changes[name] !== undefined && this.has(name));
    return isSameSet ? this.#spliced(members, changes) : this.#rebuilt(members, changes);
  }

  /** Every change stands in the place of a value: what is between them is copied in one piece. */
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

  /** One by one: hashing twenty names takes longer than the dozen look-ups of a message. */
  #member(name: string): Member | undefined {
    return this.#scanned.members.find((member) => member.name === name);
  }
}

/**
 * Reads a message that must be one JSON object (docs/contract.md, Callbacks, code 5). `JSON.parse`
 * judges the grammar and gives the values, one walk over the text then finds where they stand.
 *
 * @throws JsonError when it is compressed or not strict UTF-8, starts with a byte order mark, is not JSON or not
 *   an object, nests deeper than the limit, or has a name twice in one object, at any depth
 */
export function parseJsonObject(bytes: Buffer, limits: JsonLimits = DEFAULT_LIMITS): JsonDocument {
  const text = decode(bytes);
  const value = parse(text);
  if (!isObject(value)) throw new JsonError('the body must be a JSON object');
  return documentAsScanned(text, value, scanJson(text, limits.depthMax));
}

/** The same, for bytes that may well be no such object: what is wrong with them is a value then. */
export function jsonObjectOrError(bytes: Buffer): JsonDocument | JsonError {
  try {
    return parseJsonObject(bytes);
  } catch (error) {
    if (error instanceof JsonError) return error;
    throw error;
  }
}

/**
 * `JSON.parse` of V8 13.6 may take a name with an escape for another one that the process has read
 * before: after `{"\\":1}` it gives `{"\"":1}` the name `\`. The scanner's names are right, and where
 * one of them is spelled with an escape the values are put under them.
 */
function documentAsScanned(
  text: string,
  value: Readonly<Record<string, unknown>>,
  scanned: Scanned,
): JsonDocument {
  const { members } = scanned;
  const isPlain = members.every(({ name, nameStart }) => text.startsWith(name, nameStart + 1));
  if (isPlain) return new JsonDocument(text, value, scanned);
  const entries = members.map(
    ({ name, start, end }) => [name, parse(text.slice(start, end))] as const,
  );
  return new JsonDocument(text, Object.fromEntries(entries), scanned);
}

/** A string as JSON text. A lone surrogate comes out as its escape, so the text is valid UTF-8. */
export function jsonString(value: string): string {
  return JSON.stringify(value);
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
    // No `cause`: its message quotes the body, and a log would show what stands there.
    throw new JsonError('the body is not valid JSON');
  }
}

function documentOf(raw: string, value: unknown): JsonDocument | undefined {
  return isObject(value) ? documentOfObject(raw, value) : undefined;
}

/** For text that was scanned as a part of its whole: no limit is left to check. */
function documentOfObject(text: string, value: Readonly<Record<string, unknown>>): JsonDocument {
  return documentAsScanned(text, value, scanJson(text, Number.POSITIVE_INFINITY));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
