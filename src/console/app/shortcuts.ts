import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { storedWish, storeWish } from './wishes.ts';

/** The pages, by the key that follows `g`. */
export const GO_KEYS = {
  n: { to: '/', name: 'Now' },
  b: { to: '/bets', name: 'Bets' },
  d: { to: '/deliveries', name: 'Deliveries' },
  o: { to: '/books', name: 'Books' },
  a: { to: '/audit', name: 'Audit' },
  s: { to: '/settings', name: 'Settings' },
} as const;

const GO_MS = 1_500;
const STORED = 'wagergate.shortcuts';

/** The choice made since this page was loaded. */
let wished: boolean | undefined;

/** Single keys can be turned off, for people who use speech input or mistype (WCAG 2.1.4). */
export function areShortcutsOn(): boolean {
  return wished ?? storedWish(STORED) !== 'off';
}

export function setShortcutsOn(on: boolean): void {
  wished = on;
  storeWish(STORED, on ? 'on' : 'off');
}

/** The shortcuts that work on every page. */
export function useShortcuts(showHelp: () => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let goUntilMs = 0;
    const onKey = (event: KeyboardEvent) => {
      if (!areShortcutsOn() || isTaken(event)) return;
      const isGoing = performance.now() < goUntilMs;
      goUntilMs = 0;
      if (isGoing && isGoKey(event.key)) {
        event.preventDefault();
        void navigate({ to: GO_KEYS[event.key].to });
        return;
      }
      switch (event.key) {
        case 'g':
          goUntilMs = performance.now() + GO_MS;
          break;
        case '/':
          event.preventDefault();
          document.getElementById('find')?.focus();
          break;
        case '?':
          showHelp();
          break;
        case 'j':
          step(1);
          break;
        case 'k':
          step(-1);
          break;
        default:
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [navigate, showHelp]);
}

function isGoKey(key: string): key is keyof typeof GO_KEYS {
  return Object.hasOwn(GO_KEYS, key);
}

/** Whether a key is meant for a field, a dialog or the browser. */
function isTaken({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || altKey) return true;
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) ||
    document.querySelector('[role=dialog]') !== null
  );
}

/** Moves the focus to the next or previous row's link. */
function step(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('[data-row-link]')];
  const at = links.findIndex((link) => link.matches(':focus'));
  const next = at < 0 ? (by === 1 ? 0 : links.length - 1) : at + by;
  links[next]?.focus();
}
