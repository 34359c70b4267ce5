import { describe, expect, it } from 'vitest';
import { isDay, nextDay } from '../../src/domain/calendar.ts';

describe('a day of the calendar', () => {
  it.each(['2026-11-20', '2024-02-29', '0001-01-01', '9999-12-31'])('is %s', (text) => {
    expect(isDay(text)).toBe(true);
  });

  it.each([
    '2026-02-29',
    '2026-11-31',
    '2026-13-01',
    '2026-00-10',
    '2026-11-00',
    '2026-1-1',
    '2026-11-20T00:00:00Z',
    ' 2026-11-20',
    'x2026-11-20',
    '2026-11-20x',
    '12026-11-20',
    // PostgreSQL does not accept it.
    '0000-01-01',
    '2026-11-2',
    '',
    'today',
  ])('is not %j', (text) => {
    expect(isDay(text)).toBe(false);
  });

  it.each([
    ['2026-11-20', '2026-11-21'],
    ['2026-12-31', '2027-01-01'],
    ['2024-02-28', '2024-02-29'],
    ['2026-02-28', '2026-03-01'],
    // Days on which the clocks change.
    ['2026-03-28', '2026-03-29'],
    ['2026-03-29', '2026-03-30'],
    ['2026-10-25', '2026-10-26'],
  ])('after %s comes %s', (day, next) => {
    expect(nextDay(day)).toBe(next);
  });
});
