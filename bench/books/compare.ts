import { Client } from 'pg';
import { ReconciliationRun } from '../../src/books/reconciliation/run.ts';
import type { Database } from '../../src/store/database.ts';
import { ReconciliationDifferences } from '../../src/store/reconciliation/differences.ts';
import { ReconciliationRuns } from '../../src/store/reconciliation/runs.ts';

const DAY = '2026-11-20';
const LINES_A_CHUNK = 1_000;
const SAMPLE_MS = 100;
const MEBIBYTE = 1_048_576;

/** Writes this many settled bets of one day directly to the table. */
export async function fillBets(url: string, bets: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; definition: string }>(
      `SELECT indexname AS name, indexdef AS definition FROM pg_indexes
        WHERE tablename = 'bets' AND indexname <> 'bets_pkey'`,
    );
    // Indexes are built at the end: with ten million rows that saves minutes.
    for (const { name } of rows) await client.query(`DROP INDEX "${name}"`);
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, amount, currency, generation, place, place_time,
                         settlement, settlement_amount, settlement_type, settlement_time, created_at)
       SELECT 'listed-' || lpad(n::text, 12, '0'), 'listed', '10.50', 'USD', 1, 'accepted', 't',
              'settled', (n % 1000)::text || '.25', 'won', 't',
              timestamptz '${DAY} 00:00:00Z' + n * interval '1 day' / ($1::int + 1)
         FROM generate_series(1, $1::int) n`,
      [bets],
    );
    for (const { definition } of rows) await client.query(definition);
    await client.query('VACUUM ANALYZE bets');
  } finally {
    await client.end();
  }
}

/** The same bets as a list, with one missing, one a cent off, one twice and one unknown. */
async function* list(bets: number): AsyncGenerator<Buffer> {
  yield Buffer.from('transactionId,currency,stake,payout,state\n');
  let chunk = '';
  for (let n = 1; n <= bets; n += 1) {
    const id = `listed-${String(n).padStart(12, '0')}`;
    const payout = n === 7 ? '0.26' : `${n % 1000}.25`;
    if (n !== 5) chunk += `${id},USD,10.5,${payout},settled\n`;
    if (n === 9) chunk += `${id},USD,10.5,${payout},settled\nnobody,USD,1,1,settled\n`;
    if (n % LINES_A_CHUNK !== 0) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  yield Buffer.from(chunk);
}

/** Reads the list and compares it. @returns what it took, in time and in this process's memory */
export async function compareLists(database: Database, databaseUrl: string, bets: number) {
  const parts = {
    database: { url: databaseUrl },
    runs: new ReconciliationRuns(database),
    differences: new ReconciliationDifferences(database),
    signal: new AbortController().signal,
  };
  const rssMiB = () => Math.round(process.memoryUsage().rss / MEBIBYTE);
  const rssBeforeMiB = rssMiB();
  let rssMaxMiB = rssBeforeMiB;
  const sampling = setInterval(() => {
    rssMaxMiB = Math.max(rssMaxMiB, rssMiB());
  }, SAMPLE_MS);
  try {
    const plan = { operatorId: 'listed', from: DAY, to: DAY, timeZone: 'UTC', actor: 'bench' };
    const run = await ReconciliationRun.begin(parts, plan);
    const startedAtMs = performance.now();
    await run.read(list(bets), { names: new Map(), bytesMax: Number.MAX_SAFE_INTEGER });
    const readAtMs = performance.now();
    const counts = await run.compare();
    const doneAtMs = performance.now();
    return {
      bets,
      readMs: Math.round(readAtMs - startedAtMs),
      compareMs: Math.round(doneAtMs - readAtMs),
      rssBeforeMiB,
      rssMaxMiB,
      counts,
    };
  } finally {
    clearInterval(sampling);
  }
}
