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

  /** The error without the member's name: in a wallet's answer, the wallet chose the names. */
  get inWords(): string {
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
