/** For programs that get an environment of their own: with Node's cache they start in half the time. */
export const COMPILED: Readonly<Record<string, string>> =
  process.env.NODE_COMPILE_CACHE === undefined
    ? {}
    : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE };
