import { storedWish, storeWish } from './wishes.ts';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'wagergate.theme';

export function storedTheme(): Theme {
  const stored = storedWish(KEY);
  return THEMES.find((theme) => theme === stored) ?? 'auto';
}

/** Applies a theme at once and remembers it for the next visit. */
export function applyTheme(theme: Theme): void {
  document.documentElement.style.colorScheme = theme === 'auto' ? 'light dark' : theme;
  storeWish(KEY, theme);
}
