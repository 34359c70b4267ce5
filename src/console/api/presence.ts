/**
 * After this long without a key, click, scroll or touch, the page's own requests no longer keep the session alive.
 */
const HERE_MS = 60_000;

let lastSeenMs = performance.now();

for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  window.addEventListener(kind, () => (lastSeenMs = performance.now()), { passive: true });
}

/** Whether somebody has used this page recently. */
export function isSomebodyHere(): boolean {
  return performance.now() - lastSeenMs < HERE_MS;
}
