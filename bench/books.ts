import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepBooks } from '../src/books/keep-books.ts';
import { BooksJournal } from '../src/store/books/books-journal.ts';
import { BooksDays } from '../src/store/books/days.ts';
import { Database } from '../src/store/database.ts';
import { migrate } from '../src/store/schema/migrate.ts';
import { startPostgres } from '../tools/embedded/postgres.ts';
import { compareLists, fillBets } from './books/compare.ts';
import { fillJournal, fillYear } from './books/fill.ts';
import { optionsOf, SettingsError } from './support/settings.ts';

const HELP = `npm run bench -- books [options]

How fast the bookkeeper books a journal, how long a year's report of many operators takes, and what the
comparison of a list of bets with as many in the journal costs.

  --bets <count>        placed and settled bets in the journal (default: 50000)
  --operators <count>   operators of the year's report (default: 1000)
  --listed <count>      bets in the list, and in the journal that it is compared with (default: 100000)
  --out <file>          where the result goes (bench/results/books.json)
  --help                this text`;

/** @returns 0; 1 if something was not booked, or a planted difference was not found */
export async function runBooks(args: readonly string[]): Promise<number> {
  const { bets, operators, listed, resultFile, help } = readSettings(args);
  if (help) {
    console.log(HELP);
    return 0;
  }
  const postgres = await startPostgres();
  try {
    await migrate(postgres.url);
    const { url } = postgres;
    const database = new Database({ url, connectionsMax: 4, onIdleError: () => undefined });
    try {
      await fillJournal(url, bets);
      const booking = await bookEverything(new BooksJournal(database));
      console.log(
        `${booking.movements} movements in ${booking.elapsedMs} ms: ${booking.perSecond} a second`,
      );
      await fillYear(url, operators);
      const year = await readYear(new BooksDays(database));
      console.log(`a year of ${operators} operators: ${JSON.stringify(year)}`);
      await fillBets(url, listed);
      const comparison = await compareLists(database, url, listed);
      console.log(`a list of ${listed} bets: ${JSON.stringify(comparison)}`);
      await writeResult(resultFile, { booking, year: { operators, ...year }, comparison });
      const { agree, missing_there, missing_here, amount_differs, duplicate_there } =
        comparison.counts;
      const isFound =
        [missing_there, missing_here, amount_differs, duplicate_there].join() === '1,1,1,1';
      return booking.movements === 2 * bets && isFound && agree === listed - 3 ? 0 : 1;
    } finally {
      await database.close();
    }
  } finally {
    await postgres.stop();
  }
}

async function bookEverything(journal: BooksJournal) {
  const startedAtMs = performance.now();
  const cpu = process.cpuUsage();
  let movements = 0;
  for (;;) {
    const kept = await keepBooks(journal, 'UTC');
    if (kept.kind !== 'overtaken') movements += kept.movements.length;
    if (kept.kind === 'done') break;
  }
  const elapsedMs = Math.round(performance.now() - startedAtMs);
  const { user, system } = process.cpuUsage(cpu);
  return {
    movements,
    elapsedMs,
    perSecond: Math.round((movements * 1000) / elapsedMs),
    cpuUsPerMovement: Math.round((user + system) / movements),
  };
}

/** Reads the first page of all operators' year, and all of one operator's year. */
async function readYear(days: BooksDays) {
  const timed = async (query: Parameters<BooksDays['list']>[0]) => {
    const startedAtMs = performance.now();
    const page = await days.list(query);
    return { rows: page?.items.length ?? 0, ms: Math.round(performance.now() - startedAtMs) };
  };
  await timed({});
  const firstPage = await timed({ from: '2025-01-01', to: '2025-12-31' });
  const oneOperator = await timed({ operator: 'operator-7', from: '2025-01-01', to: '2025-12-31' });
  return { firstPage, oneOperator };
}

const OPTIONS = {
  bets: { type: 'string', default: '50000' },
  operators: { type: 'string', default: '1000' },
  listed: { type: 'string', default: '100000' },
  out: { type: 'string', default: fileURLToPath(new URL('results/books.json', import.meta.url)) },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @throws SettingsError */
function readSettings(args: readonly string[]) {
  const count = (text: string, name: string) => {
    if (/^[1-9][0-9]{0,7}$/.test(text)) return Number(text);
    throw new SettingsError(`${name} must be a whole number of 1 or more`);
  };
  const values = optionsOf(args, OPTIONS);
  return {
    bets: count(values.bets, '--bets'),
    operators: count(values.operators, '--operators'),
    listed: count(values.listed, '--listed'),
    resultFile: values.out,
    help: values.help,
  };
}

async function writeResult(file: string, results: object): Promise<void> {
  const on = {
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    processors: availableParallelism(),
  };
  const result = { benchmark: 'books', measuredAt: new Date().toISOString(), on, ...results };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(result, undefined, 2)}\n`);
}
