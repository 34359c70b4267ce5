import { useSyncExternalStore } from 'react';
import { agoText, localText, utcText, zoneText } from './times.ts';

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let nowMs = Date.now();
let today = new Date(nowMs).toDateString();
let timer: number | undefined;

/** The current time, updated each second by one timer for the whole page. */
export function useNowMs(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= window.setInterval(() => {
    nowMs = Date.now();
    today = new Date(nowMs).toDateString();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = undefined;
  };
}

/** After midnight, times on an open page are yesterday's and must show their date. */
function useToday(): void {
  useSyncExternalStore(subscribe, () => today);
}

/** In the reader's time zone, or the given one; in UTC to the millisecond as a tooltip and for machines. */
export function Time({ at, zone }: { readonly at: string; readonly zone?: string }) {
  useToday();
  return (
    <time dateTime={at} title={utcText(at)}>
      {zone === undefined ? localText(at, nowMs) : zoneText(at, zone)}
    </time>
  );
}

/** How long ago, or how soon. */
export function Ago({ at }: { readonly at: string }) {
  const now = useNowMs();
  return (
    <time dateTime={at} title={utcText(at)}>
      {agoText(Date.parse(at), now)}
    </time>
  );
}
