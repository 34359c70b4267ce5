/** The query parameters of a page's address: always text, never a number. */
export type Search = Readonly<Record<string, string>>;

/** As the browser parses them; the router's own parser would turn an id of digits into a float. */
export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

export function searchText(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** Keeps only the query parameters that a page knows. */
export function known<const K extends string>(...names: readonly K[]) {
  return (
    search: Readonly<Record<string, unknown>>,
  ): { readonly [N in K]?: string | undefined } => {
    const found = names.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    });
    return Object.fromEntries(found);
  };
}
