/** A change of the source's text; `find` stands there exactly once, or the bug is out of date. */
export interface Change {
  /** Below the source's folder. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

/** A deliberate mistake in a copy of the gateway, which the torture test has to find. */
export interface Bug {
  readonly name: string;
  readonly what: string;
  readonly changes: readonly Change[];
}
