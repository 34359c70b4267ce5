import { expect, it } from 'vitest';
import { BEGIN, FINISH_PLACES } from '../../../src/store/bets/place-statements.ts';
import { Database } from '../../../src/store/database.ts';
import { type Statement, statement } from '../../../src/store/statement.ts';
import { createDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

const SETTINGS = statement(
  'settings',
  {},
  `SELECT current_setting('plan_cache_mode') AS mode, current_setting('enable_seqscan') AS seqscan`,
  (row) => ({ mode: row.text('mode'), seqscan: row.text('seqscan') }),
);

/** Plans are made once and kept, so the first one counts: of tables without a row. */
it.each<[string, Statement]>([
  ['the begin', BEGIN],
  ['the end', FINISH_PLACES],
])(
  '%s of a batch of places reads every row by its key, from the first day on',
  async (_, planned) => {
    const { url, drop } = await createDatabase();
    const database = new Database({
      url,
      connectionsMax: 1,
      plans: 'kept',
      onIdleError: () => undefined,
    });
    const settings = await database.run(SETTINGS, {});
    expect(settings).toEqual([{ mode: 'force_generic_plan', seqscan: 'off' }]);
    await database.close();

    const plan = await onServer(url, async (client) => {
      await client.query(`SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off`);
      await client.query(`PREPARE planned AS ${planned.text}`);
      const count = new Set(planned.text.match(/\$\d+/g)).size;
      const nulls = Array.from({ length: count }, () => 'NULL').join(', ');
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN EXECUTE planned(${nulls})`,
      );
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).not.toMatch(/Seq Scan|Disabled/);
    expect(plan).toMatch(/Index Scan/);
    await drop();
  },
);
