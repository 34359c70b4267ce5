/**
 * The JSON of a message is not acceptable. Its message is for people and never quotes the body,
 * which may carry tokens.
 */
export class JsonError extends Error {
  /** Which member, as a dotted path (`metadata.0.coefficient`); undefined for the whole body. */
  readonly field: string | undefined;

  constructor(message: string, field?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JsonError';
    this.field = field;
  }

  /** For sentences that name no member: in a wallet's answer the names are its own words. */
  get inWords(): string {
    return this.field === undefined ? this.message : `a member of the body ${this.message}`;
  }
}

/** Where a piece of JSON stands in its text: from the first character to behind the last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A value and, where the scan was asked to look there, what stands directly inside. */
export interface ScannedValue extends Span {
  /** Undefined for what is neither object nor array, and where the scan did not look. */
  readonly inside: Inside | undefined;
}

/** In order. */
export type Inside =
  | { readonly kind: 'object'; readonly members: readonly Member[] }
  | { readonly kind: 'array'; readonly elements: readonly ScannedValue[] };

/** A member of an object; the span is its value's. */
export interface Member extends ScannedValue {
  /** Unescaped. */
  readonly name: string;
  /** Where the name's opening quote stands. */
  readonly nameStart: number;
}

/** What one walk over a JSON text finds. */
export interface Scanned {
  /** Members of the outermost object, in order. */
  readonly members: readonly Member[];
  /** Elements of the outermost array, in order. */
  readonly elements: readonly Span[];
  /** The text without whitespace outside strings; the very same text where there was none. */
  readonly compact: string;
}

/** Comparing a few names one by one is faster than hashing them; beyond it would be quadratic. */
const NAMES_COMPARED_MAX = 24;

/** A path is shown to people and put into logs: a hostile one must not fill them. */
const PATH_LENGTH_MAX = 128;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Between the tokens of valid JSON no other character is as low as the four of whitespace. */
const SPACE = 0x20;

/**
 * Walks a text that `JSON.parse` has accepted and notes where things stand. Because the grammar is
 * known to hold, it looks at structure only and never has to ask "what if this is missing".
 *
 * @param text valid JSON
 * @param depthMax how many objects and arrays may stand inside one another
 * @throws JsonError on nesting beyond `depthMax` and on a name that occurs twice in one object:
 *   readers disagree on which of the two counts, so what is checked would not be what is acted on
 */
export function scanJson(text: string, depthMax: number): Scanned {
  const scanner = new Scanner(text, depthMax, 1);
  const inside = scanner.whole();
  return {
    members: inside?.kind === 'object' ? inside.members : NOTHING,
    elements: inside?.kind === 'array' ? inside.elements : NOTHING,
    compact: scanner.compact(),
  };
}

/**
 * The same walk, noting what stands inside every object and array.
 *
 * @param text valid JSON
 * @param notedDepthMax deeper ones are walked through, and what stands inside is not noted
 * @returns what stands inside the outermost value; undefined where that is no object or array
 * @throws JsonError as `scanJson` does
 */
export function scanJsonTree(
  text: string,
  depthMax: number,
  notedDepthMax = Number.POSITIVE_INFINITY,
): Inside | undefined {
  return new Scanner(text, depthMax, notedDepthMax).whole();
}

const NOTHING: readonly never[] = [];

class Scanner {
  readonly #text: string;
  readonly #depthMax: number;
  /** Deeper objects and arrays are walked through, and what stands inside is not noted. */
  readonly #notedDepthMax: number;
  readonly #path: (string | number)[] = [];
  readonly #compacted: string[] = [];
  #compactedUpTo = 0;
  #at = 0;

  constructor(text: string, depthMax: number, notedDepthMax: number) {
    this.#text = text;
    this.#depthMax = depthMax;
    this.#notedDepthMax = notedDepthMax;
  }

  whole(): Inside | undefined {
    this.#whitespace();
    const inside = this.#value(1);
    this.#whitespace();
    return inside;
  }

  compact(): string {
    if (this.#compacted.length === 0) return this.#text;
    return this.#compacted.join('') + this.#text.slice(this.#compactedUpTo);
  }

  /** Recursion is safe: `#depthMax` ends it. */
  #value(depth: number): Inside | undefined {
    switch (this.#text.charCodeAt(this.#at)) {
      case QUOTE:
        this.#string();
        return undefined;
      case OPEN_BRACE: {
        const members: Member[] | undefined = this.#isNoted(depth) ? [] : undefined;
        this.#object(depth, members);
        return members && { kind: 'object', members };
      }
      case OPEN_BRACKET: {
        const elements: ScannedValue[] | undefined = this.#isNoted(depth) ? [] : undefined;
        this.#array(depth, elements);
        return elements && { kind: 'array', elements };
      }
      default:
        this.#literal();
        return undefined;
    }
  }

  #isNoted(depth: number): boolean {
    return depth <= this.#notedDepthMax;
  }

  #object(depth: number, members: Member[] | undefined): void {
    if (this.#entersEmpty(depth, CLOSE_BRACE)) return;
    const names = new Names();
    do {
      this.#whitespace();
      const nameStart = this.#at;
      const name = this.#name();
      this.#path.push(name);
      if (!names.add(name)) throw new JsonError('occurs twice', this.#pathText());
      this.#whitespace();
      this.#at += 1; // the colon
      this.#whitespace();
      const start = this.#at;
      const inside = this.#value(depth + 1);
      members?.push({ name, nameStart, start, end: this.#at, inside });
      this.#path.pop();
    } while (this.#continues());
  }

  #array(depth: number, elements: ScannedValue[] | undefined): void {
    if (this.#entersEmpty(depth, CLOSE_BRACKET)) return;
    let index = 0;
    do {
      this.#whitespace();
      const start = this.#at;
      this.#path.push(index);
      const inside = this.#value(depth + 1);
      elements?.push({ start, end: this.#at, inside });
      this.#path.pop();
      index += 1;
    } while (this.#continues());
  }

  /** Steps over the opening bracket and, where nothing stands inside, the closing one too. */
  #entersEmpty(depth: number, close: number): boolean {
    if (depth > this.#depthMax) {
      throw new JsonError(`is nested deeper than ${this.#depthMax} levels`, this.#pathText());
    }
    this.#at += 1;
    this.#whitespace();
    if (this.#text.charCodeAt(this.#at) !== close) return false;
    this.#at += 1;
    return true;
  }

  /** Steps over what follows a value: true for a comma, false for the closing bracket. */
  #continues(): boolean {
    this.#whitespace();
    const code = this.#text.charCodeAt(this.#at);
    this.#at += 1;
    return code === COMMA;
  }

  #name(): string {
    const start = this.#at;
    const escaped = this.#string();
    if (!escaped) return this.#text.slice(start + 1, this.#at - 1);
    // The same name can be spelled with and without escapes, so names are compared unescaped.
    return String(JSON.parse(this.#text.slice(start, this.#at)));
  }

  /** Steps over a string; tells whether it holds a backslash. */
  #string(): boolean {
    const text = this.#text;
    let at = this.#at + 1;
    let escaped = false;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
      if (code === BACKSLASH) {
        escaped = true;
        at += 1;
      }
      at += 1;
    }
    this.#at = at + 1;
    return escaped;
  }

  /** Steps over a number, `true`, `false` or `null`. */
  #literal(): void {
    const text = this.#text;
    let at = this.#at + 1;
    while (at < text.length && !endsLiteral(text.charCodeAt(at))) at += 1;
    this.#at = at;
  }

  #whitespace(): void {
    const start = this.#at;
    while (this.#text.charCodeAt(this.#at) <= SPACE) this.#at += 1;
    if (this.#at === start) return;
    this.#compacted.push(this.#text.slice(this.#compactedUpTo, start));
    this.#compactedUpTo = this.#at;
  }

  #pathText(): string {
    const text = this.#path.join('.');
    return text.length <= PATH_LENGTH_MAX ? text : `${text.slice(0, PATH_LENGTH_MAX)}...`;
  }
}

/** The names seen in one object. */
class Names {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** False when the name was there already. */
  add(name: string): boolean {
    if (this.#many !== undefined) {
      const before = this.#many.size;
      return this.#many.add(name).size > before;
    }
    if (this.#few.includes(name)) return false;
    this.#few.push(name);
    if (this.#few.length > NAMES_COMPARED_MAX) this.#many = new Set(this.#few);
    return true;
  }
}

function endsLiteral(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= SPACE;
}
