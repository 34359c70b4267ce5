/**
 * An address or path without its trailing slashes. No regular expression, because that would search from every
 * slash on, which takes seconds with tens of thousands of them in the middle.
 */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}
