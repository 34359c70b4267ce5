/**
 * A person's preferences, kept by this browser. A browser that refuses to store site data throws at the first
 * access; then the preference lasts as long as the page.
 */
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
