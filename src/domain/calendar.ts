const DAY_MS = 86_400_000;
/** PostgreSQL has no year 0: statements fail at an earlier time. */
const YEAR_ONE_MS = Date.parse('0001-01-01T00:00:00Z');

/** The day after this one, both as `2026-11-20`: calendar days, so no clock change matters. */
export function nextDay(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

/**
 * A time that a person enters: ISO 8601 with its zone, or a day in UTC.
 * @returns undefined for any other text, a day that no calendar has, and a time before the year 1
 */
export function instantOf(text: string): Date | undefined {
  const [day] = /^\d{4}-\d\d-\d\d(?=$|T[\d:.]+(?:Z|[+-]\d\d:\d\d)$)/.exec(text) ?? [];
  if (day === undefined || !isDay(day)) return undefined;
  const time = new Date(text);
  return time.getTime() >= YEAR_ONE_MS ? time : undefined;
}

/** Whether a text is a calendar day, written `2026-11-20`, from the year 1 on. */
export function isDay(text: string): boolean {
  if (!/^(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}
