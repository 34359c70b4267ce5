/** The end of an exhaustive switch: a value of a newer release must not become a state. @throws Error always */
export function unreachable(value: never): never {
  throw new Error(`no case for ${JSON.stringify(value)}`);
}
