/**
 * What this browser keeps of a person's wishes. One that keeps nothing (cookies and site data refused) throws at
 * the first look: then the wish holds as long as the page.
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
    // As above, or there is no room.
  }
}
