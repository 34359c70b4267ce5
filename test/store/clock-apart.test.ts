import { expect, it, onTestFinished } from 'vitest';
import { statement } from '../../src/store/sql/statement.ts';
import { startTestGateway } from '../support/gateway.ts';
import { connect, rowsOf } from '../support/server.ts';

/** As many connections as `src/wiring/storage.ts` has for sessions, and some look-ups that wait for one of them. */
const CONNECTIONS = 10;
const WAITING = 5;
/** Shorter than a statement may take: until then, each connection waits. */
const BEFORE_TIMEOUT_MS = 4_500;

const READ = statement('read-sessions', {}, 'SELECT count(*)::int AS count FROM sessions', (row) =>
  row.int('count'),
);

it("PostgreSQL's clock is known although somebody keeps the sessions locked (I7)", async () => {
  const gateway = await startTestGateway();
  onTestFinished(() => gateway.close());
  const other = await connect(gateway.databaseUrl);
  onTestFinished(() => other.end());
  await other.query('BEGIN; LOCK TABLE sessions');
  const { database } = gateway.parts;
  const asked = Promise.allSettled(
    Array.from({ length: CONNECTIONS + WAITING }, () => database.run(READ, {})),
  );
  const activity = async (what: string) => {
    const [row] = await rowsOf(
      gateway.databaseUrl,
      `SELECT ${what} AS told FROM pg_stat_activity WHERE datname = current_database()`,
    );
    return row?.told;
  };
  await expect
    .poll(() => activity(`count(*) FILTER (WHERE wait_event_type = 'Lock')::int`))
    .toBe(CONNECTIONS);
  const lookedAt = `max(query_start) FILTER (WHERE query LIKE '%clock_timestamp())::float8 * 1000 AS now_ms%'
    AND query NOT LIKE '%pg_stat_activity%')`;
  const looks = new Set<string>();
  await expect
    .poll(async () => looks.add(String(await activity(lookedAt))).size, {
      timeout: BEFORE_TIMEOUT_MS,
    })
    .toBeGreaterThanOrEqual(3);
  await other.query('ROLLBACK');
  await asked;
});
