/** A change of the source text. `find` must occur exactly once; otherwise the bug is out of date. */
export interface Change {
  /** Relative to the source's folder. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

/** A deliberate bug in a copy of the gateway, which the torture test has to find. */
export interface Bug {
  readonly name: string;
  readonly what: string;
  readonly changes: readonly Change[];
}
