import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timeZone } from '../../../src/config/schema/fields.ts';
import { BooksTransaction } from '../../../src/store/books/books-transaction.ts';
import { dueDays } from '../../../src/store/books/due-days.ts';
import { RebuildSteps } from '../../../src/store/books/rebuild-steps.ts';
import { ReconciliationRuns } from '../../../src/store/reconciliation/runs.ts';
import { openBooks } from '../../books/support/booked-day.ts';

const HOUR_MS = 3_600_000;
const AT_ONCE = { closeAfterMinutes: 0, closeAtLatestMinutes: 60 };

const DAY = '2025-10-25';

let books: Awaited<ReturnType<typeof openBooks>>;
beforeAll(async () => {
  books = await openBooks(DAY);
  await books.book('alpha', 1);
});
afterAll(() => books.close());

/** The beginning of a run's days, as its search for bets uses them. */
async function daysFrom(from: string, timeZone: string): Promise<string[]> {
  const runs = new ReconciliationRuns(books.database);
  const plan = { operatorId: 'alpha', from, to: from, timeZone, actor: 'ann' };
  const { startsAt, endsAt } = await runs.begin(plan);
  return [startsAt, endsAt].map((at) => at.toISOString());
}

/** Found as the first hour, and quarter of an hour, whose date is that day's. */
function firstOf(day: string, timeZone: string): string {
  const dates = new Intl.DateTimeFormat('en-CA', { timeZone });
  const noon = Date.parse(`${day}T12:00:00Z`);
  for (let at = noon - 36 * HOUR_MS; ; at += HOUR_MS / 4) {
    if (dates.format(at) === day) return new Date(at).toISOString();
  }
}

describe('a day begins with the first moment of its date', () => {
  it.each([
    ['Atlantic/Azores', '2025-10-26', 'midnight twice'],
    ['Atlantic/Azores', '2025-03-30', 'no midnight'],
    ['America/Havana', '2025-11-02', 'midnight twice'],
    ['America/Havana', '2025-03-09', 'no midnight'],
    ['Africa/Cairo', '2025-10-31', 'the hour before midnight twice'],
    ['Asia/Beirut', '2025-10-26', 'the hour before midnight twice'],
    ['America/Santiago', '2025-09-07', 'no midnight'],
    ['Australia/Lord_Howe', '2025-10-05', 'half an hour is skipped'],
    ['Europe/Berlin', '2025-10-26', 'at night'],
    ['America/New_York', '2025-03-09', 'at night'],
    ['Pacific/Chatham', '2025-04-06', 'three quarters of an hour from the others'],
    ['Pacific/Kiritimati', '2025-12-31', 'never'],
    ['Pacific/Pago_Pago', '2025-12-31', 'never'],
  ])('in %s on %s, where the clocks change: %s', async (timeZone, day) => {
    const dayAfter = new Date(Date.parse(day) + 24 * HOUR_MS).toISOString().slice(0, 10);
    expect(await daysFrom(day, timeZone)).toEqual([
      firstOf(day, timeZone),
      firstOf(dayAfter, timeZone),
    ]);
  });

  it('in every zone that the configuration takes by a name without a place (I12)', async () => {
    const short = [
      ...'ACT AET AGT ART AST BET BST CAT CET CNT CST CTT EAT ECT EET IET IST JST MET'.split(' '),
    ];
    short.push(...'MIT NET NST PLT PNT PRT PST SST VST WET cet Ist EST MST HST'.split(' '));
    short.push(
      ...'UTC utc GMT UCT PRC ROC ROK NZ GB Japan Cuba Iran Eire Turkey EST5EDT'.split(' '),
    );
    const taken = short.filter((name) => timeZone().safeParse(name).success);
    expect(taken).toEqual(expect.arrayContaining(['UTC', 'GMT', 'Japan', 'EST5EDT']));
    for (const name of taken) {
      const [summer, winter] = ['2026-07-15', '2026-01-15'];
      expect((await daysFrom(summer, name))[0], name).toBe(firstOf(summer, name));
      expect((await daysFrom(winter, name))[0], name).toBe(firstOf(winter, name));
    }
  });

  it('also to a statement, which ends where its last movement may be (I12)', async () => {
    const days = await dueDays(books.database, {
      ...AT_ONCE,
      timeZone: 'Atlantic/Azores',
    });
    const [startsAt, endsAt] = ['2025-10-25T00:00:00Z', '2025-10-26T00:00:00Z'];
    expect(days).toMatchObject([
      { operatorId: 'alpha', day: DAY, startsAt: new Date(startsAt), endsAt: new Date(endsAt) },
    ]);
  });

  it('and to a rebuild from that day on', async () => {
    const start = BooksTransaction.run(books.url, true, (transaction) =>
      new RebuildSteps(transaction).startOf('2025-10-26', 'Atlantic/Azores'),
    );
    expect(await start).toEqual(new Date('2025-10-26T00:00:00Z'));
  });
});
