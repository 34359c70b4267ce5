/** A person's preferences. A browser that stores no site data throws; then they last as long as the page. */
export function storedWish(key: string): string | null {
  try {
    return window.localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function storeWish(key: string, text: string): void {
  try {
    window.localStorage.setItem(key, text);
  } catch {
    // Storage is refused, as above, or full.
  }
}
