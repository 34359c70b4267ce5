/** Of a large part only what a test of a rule alone is asked for; anything else is missing. */
export function partly<T>(members: object): T {
  return members as T;
}
