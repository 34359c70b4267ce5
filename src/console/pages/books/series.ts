import type { AlignedData } from 'uplot';
import type { Answers } from '../../api/wire.ts';
import { AS_ELSEWHERE } from '../../parts/times.ts';

export type Day = Answers['GET /admin/books/days']['items'][number];

/** The days of one operator in one currency, oldest first. */
export interface DaySeries {
  readonly operator: string;
  readonly currency: string;
  readonly days: readonly Day[];
}

const DAY_SECONDS = 86_400;

/** Groups days by operator and currency, those with the most bets first. */
export function seriesOf(days: readonly Day[]): readonly DaySeries[] {
  const groups = new Map<string, Day[]>();
  for (const day of days) {
    const key = JSON.stringify([day.operator, day.currency]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [day]);
    else group.push(day);
  }
  const betsOf = ({ days: own }: DaySeries) => own.reduce((sum, { bets }) => sum + bets, 0);
  return [...groups.values()]
    .flatMap(([first, ...rest]) => {
      if (first === undefined) return [];
      const own = [first, ...rest].sort((a, b) => a.day.localeCompare(b.day));
      return [{ operator: first.operator, currency: first.currency, days: own }];
    })
    .sort((a, b) => betsOf(b) - betsOf(a));
}

/** The lines of a chart. */
export const LINES = [
  { name: 'stakes', colour: '--accent', of: ({ stakes }: Day) => stakes },
  { name: 'payouts', colour: '--warn', of: ({ payouts }: Day) => payouts },
  { name: 'net', colour: '--good', of: ({ net }: Day) => net },
] as const;

/** Amounts become numbers only to draw the lines; people read their exact text. */
export function pointsOf({ days }: DaySeries): AlignedData {
  const heightOf = (amount: string) => Number(amount);
  return [
    days.map(({ day }) => secondsOf(day)),
    ...LINES.map(({ of }) => days.map((day) => heightOf(of(day)))),
  ];
}

/** From the first day to the last; a single day is centred. */
export function daysRange(seconds: readonly number[]): [number, number] {
  const [first = 0, last = first] = [seconds[0], seconds.at(-1)];
  return first === last ? [first - DAY_SECONDS, first + DAY_SECONDS] : [first, last];
}

const DAY_TEXT = new Intl.DateTimeFormat(undefined, {
  ...AS_ELSEWHERE,
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});

/** A tick that is not at the beginning of a day has no label. */
export function dayText(seconds: number): string {
  return seconds % DAY_SECONDS === 0 ? DAY_TEXT.format(seconds * 1_000) : '';
}

function secondsOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1_000;
}
