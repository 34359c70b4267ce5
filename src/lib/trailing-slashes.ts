/**
 * An address or path without the slashes at its end. By hand: a pattern for them looks from each slash on,
 * which takes seconds where tens of thousands stand in the middle.
 */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}
