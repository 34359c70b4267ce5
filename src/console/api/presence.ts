/** After so long without a key or a touch, what a page asks by itself does not keep a session alive. */
const HERE_MS = 60_000;

let lastSeenMs = performance.now();

for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const) {
  window.addEventListener(kind, () => (lastSeenMs = performance.now()), { passive: true });
}

/** Whether somebody has done something here a short while ago. */
export function isSomebodyHere(): boolean {
  return performance.now() - lastSeenMs < HERE_MS;
}
