import { InvalidArgumentError } from 'commander';
import { YEAR_ONE_MS } from '../domain/calendar.ts';

/** `--from`, `--to`: a day in UTC, or a time with its zone. */
export function readTime(text: string): Date {
  const time = new Date(text);
  if (/^\d{4}-\d\d-\d\d(?:T.*(?:Z|[+-]\d\d:\d\d))?$/.test(text) && time.getTime() >= YEAR_ONE_MS) {
    return time;
  }
  throw new InvalidArgumentError('It must be a day, or a time such as 2026-11-22T03:15:00Z.');
}
