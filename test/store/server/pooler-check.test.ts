import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { migrateDatabase } from '../../../src/cli/database.ts';
import { readEnvironment } from '../../../src/config/environment/environment.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { awaitDatabase } from '../../../src/process/start-up.ts';
import { whatIsPending } from '../../../src/store/schema/journal-database.ts';
import { refuseSharedSession } from '../../../src/store/server/start-check.ts';
import { createBareDatabase, createDatabase, type TestDatabase } from '../../support/database.ts';
import { setUpDatabase } from '../../support/foreign-settings.ts';
import { limitedRole } from '../../support/limited-role.ts';
import { pendingThere } from '../../support/migrations.ts';
import { connect } from '../../support/server.ts';
import { startSharedSession } from '../../support/shared-session.ts';
import { withholdBeyond } from '../../support/withheld-connections.ts';

it('a server with room for one more connection only lets a person’s command in', async () => {
  const full = await createDatabase();
  const { url } = await limitedRole(full.url, 1);
  await expect(refuseSharedSession(url)).resolves.toBeUndefined();
  await full.drop();
});

it('a pooler that has a second connection wait lets a person’s command in', async () => {
  const full = await createDatabase();
  const pooler = await withholdBeyond(1, 'after the login', full.url);
  await expect(refuseSharedSession(pooler.url)).resolves.toBeUndefined();
  await pooler.close();
  await full.drop();
});

const whyNot = (env: NodeJS.ProcessEnv) =>
  awaitDatabase(
    readEnvironment({ ...env, REDIS_URL: 'redis://127.0.0.1:1' }),
    systemClock,
    pino({ level: 'silent' }),
  ).then(
    () => 'it starts',
    (error: Error) => error.message,
  );

describe('behind a pooler that gives a session to whichever connection has a statement', () => {
  let server: TestDatabase;
  let pooler: Awaited<ReturnType<typeof startSharedSession>>;
  const behind = async (database: TestDatabase) => {
    server = database;
    pooler = await startSharedSession(database.url);
  };
  afterEach(async () => {
    await pooler.close();
    await server.drop();
  });

  it('no schema is made: the lock of a migration would hold nobody off', async () => {
    await behind(await createBareDatabase());
    const env = { DATABASE_URL: pooler.url };
    await expect(migrateDatabase(env, () => undefined)).rejects.toThrow(
      /^PostgreSQL \(postgresql:.*\) gives one session to several connections .*DATABASE_DIRECT_URL/,
    );
    expect(await whyNot({ ...env, MIGRATE_ON_START: 'true' })).toMatch(/\(DATABASE_URL, /);
    expect(await pendingThere(server.url)).not.toEqual([]);
  });

  it('no gateway starts that would prepare statements there, or lock over it (I3)', async () => {
    await behind(await createDatabase());
    expect(await whyNot({ DATABASE_URL: pooler.url, DATABASE_DIRECT_URL: server.url })).toMatch(
      /^PostgreSQL \(DATABASE_URL, .* mixes up the prepared statements .*already exists.*1\.21/,
    );
    expect(await whyNot({ DATABASE_URL: server.url, DATABASE_DIRECT_URL: pooler.url })).toMatch(
      /^PostgreSQL \(DATABASE_DIRECT_URL, .* gives one session to several connections/,
    );
    expect(await whyNot({ DATABASE_URL: server.url })).toBe('it starts');
  });

  it('whoever reads at a start leaves the limits of the role to those who come after', async () => {
    await behind(await createDatabase());
    await setUpDatabase(server.url, { TimeZone: 'UTC', statement_timeout: '7s' });
    // Signs in as the pooler itself would, without what a gateway asks for.
    const other = await connect(pooler.url);
    expect(await whatIsPending(pooler.url)).toBeUndefined();
    const { rows } = await other.query('SHOW statement_timeout');
    await other.end();
    expect(rows).toEqual([{ statement_timeout: '7s' }]);
  });
});
