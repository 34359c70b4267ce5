const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `3.2 s`, `4 min`, `2 h 5 min`, `3 d 4 h`: as exact as somebody who is waiting needs. */
export function spanText(ms: number): string {
  const span = Math.abs(ms);
  if (span < SECOND) return `${Math.round(span)} ms`;
  if (span < 10 * SECOND) return `${(span / SECOND).toFixed(1)} s`;
  if (span < MINUTE) return `${Math.round(span / SECOND)} s`;
  if (span < HOUR) return `${Math.floor(span / MINUTE)} min`;
  if (span < DAY) return joined(span, HOUR, 'h', MINUTE, 'min');
  return joined(span, DAY, 'd', HOUR, 'h');
}

function joined(span: number, large: number, word: string, small: number, smallWord: string) {
  const rest = Math.floor((span % large) / small);
  const whole = `${Math.floor(span / large)} ${word}`;
  return rest === 0 ? whole : `${whole} ${rest} ${smallWord}`;
}

/** `5 min ago`, `in 12 s`, `now`. */
export function agoText(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (Math.abs(ms) < SECOND) return 'now';
  return ms > 0 ? `${spanText(ms)} ago` : `in ${spanText(ms)}`;
}

/** Days of books and logs are Gregorian and in these digits, whatever the reader's language has. */
export const AS_ELSEWHERE = { calendar: 'gregory', numberingSystem: 'latn' } as const;

const TIME: Intl.DateTimeFormatOptions = {
  ...AS_ELSEWHERE,
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
};
const DATE: Intl.DateTimeFormatOptions = { ...AS_ELSEWHERE, day: 'numeric', month: 'short' };

/** In the reader's time zone: the time, and the date if it is not today's. */
export function localText(iso: string, nowMs: number): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const time = new Intl.DateTimeFormat(undefined, TIME).format(at);
  const now = new Date(nowMs);
  if (at.toDateString() === now.toDateString()) return time;
  const isThisYear = at.getFullYear() === now.getFullYear();
  const date = new Intl.DateTimeFormat(undefined, isThisYear ? DATE : { ...DATE, year: 'numeric' });
  return `${date.format(at)}, ${time}`;
}

/** In a time zone that is named beside it; in UTC, and saying so, if the browser does not know it. */
export function zoneText(iso: string, timeZone: string): string {
  const options = { ...DATE, year: 'numeric', ...TIME, timeZone } as const;
  try {
    return new Intl.DateTimeFormat(undefined, options).format(new Date(iso));
  } catch (error) {
    if (error instanceof RangeError) return utcText(iso);
    throw error;
  }
}

/** `2026-11-21 14:03:22.123 UTC`. */
export function utcText(iso: string): string {
  return `${iso.replace('T', ' ').replace(/Z$/, '')} UTC`;
}
