/** The JSON of a message is not acceptable. The message never quotes the body, which may carry tokens. */
export class JsonError extends Error {
  /** Which member, as a dotted path (`metadata.0.coefficient`); undefined for the whole body. */
  readonly field: string | undefined;

  constructor(message: string, field?: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'JsonError';
    this.field = field;
  }

  /** The error without the member's name: in a wallet's answer, the wallet chose the names. */
  get answerSummary(): string {
    return this.field === undefined ? this.message : `a member of the body ${this.message}`;
  }
}

/** The position of a piece of JSON in its text: `start` is its first character, `end` is after its last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A value and, to the depth that the scan was asked to note, its direct contents. */
export interface ScannedValue extends Span {
  /** Undefined for a value that is neither object nor array, and beyond the noted depth. */
  readonly inside: Inside | undefined;
}

/** The direct contents of an object or array, in order. */
export type Inside =
  | { readonly kind: 'object'; readonly members: readonly Member[] }
  | { readonly kind: 'array'; readonly elements: readonly ScannedValue[] };

/** A member of an object; the span is its value's. */
export interface Member extends ScannedValue {
  /** Unescaped. */
  readonly name: string;
  /** The position of the name's opening quote. */
  readonly nameStart: number;
}

/** What one walk over a JSON text finds. */
export interface Scanned {
  /** The contents of the outermost value; undefined if that is no object or array. */
  readonly inside: Inside | undefined;
  /** Whether there is whitespace outside of strings. */
  readonly hasSpace: boolean;
}

/** Up to this many, comparing names one by one is faster than hashing; with more it would be quadratic. */
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
/** Between tokens of valid JSON, only whitespace has codes up to this one. */
const SPACE = 0x20;

/**
 * Scans valid JSON and notes the positions of its parts.
 * @param limits.depthMax of nesting @param limits.notedDepthMax deeper contents are not noted
 * @throws JsonError on deeper nesting, and on a name twice in one object: readers disagree on which counts
 */
export function scanJson(
  text: string,
  limits: { readonly depthMax?: number; readonly notedDepthMax?: number },
): Scanned {
  return new Scanner(text, limits).whole();
}

class Scanner {
  readonly #text: string;
  readonly #depthMax: number;
  /** The contents of deeper objects and arrays are scanned but not noted. */
  readonly #notedDepthMax: number;
  readonly #path: (string | number)[] = [];
  #hasSpace = false;
  #at = 0;

  constructor(text: string, { depthMax, notedDepthMax }: Parameters<typeof scanJson>[1]) {
    this.#text = text;
    this.#depthMax = depthMax ?? Number.POSITIVE_INFINITY;
    this.#notedDepthMax = notedDepthMax ?? Number.POSITIVE_INFINITY;
  }

  whole(): Scanned {
    this.#whitespace();
    const inside = this.#value(1);
    this.#whitespace();
    return { inside, hasSpace: this.#hasSpace };
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

  /** Steps over the opening bracket and, if there is nothing inside, the closing one too. */
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
    // The same name can be written with and without escapes, so names are compared unescaped.
    return String(JSON.parse(this.#text.slice(start, this.#at)));
  }

  /** Steps over a string; returns whether it contains a backslash. */
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
    while (this.#text.charCodeAt(this.#at) <= SPACE) {
      this.#at += 1;
      this.#hasSpace = true;
    }
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

  /** @returns false if the name was already there */
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
