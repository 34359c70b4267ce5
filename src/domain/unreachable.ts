/**
 * The end of an exhaustive switch. The compiler refuses a missing case; at run time a value from
 * elsewhere (a column that a newer release has written) must not become a state: it throws.
 * @throws Error always
 */
export function unreachable(value: never): never {
  throw new Error(`no case for ${JSON.stringify(value)}`);
}
