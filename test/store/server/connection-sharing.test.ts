import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { ConnectionSharing } from '../../../src/store/server/connection-sharing.ts';
import { noRow, statement } from '../../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { startFullPooler } from '../../support/full-pooler.ts';
import { limitedRole } from '../../support/limited-role.ts';
import { connect } from '../../support/server.ts';

const ONE = statement('one', {}, 'SELECT 1 AS one', (row) => row.int('one'));
const SHORT = statement('short', {}, 'SELECT 1 AS one FROM pg_sleep(0.02)', noRow);
const SLOW = statement('slow', {}, 'SELECT 1 AS one FROM pg_sleep(0.5)', noRow);

const LOCKED = statement('locked', {}, 'SELECT pg_advisory_xact_lock(7)', noRow);

const onIdleError = () => undefined;

let server: TestDatabase;
beforeAll(async () => {
  server = await createDatabase();
});
afterAll(() => server.drop());

function open(url: string, connectionsMax: number, sharing = new ConnectionSharing()): Database {
  const database = new Database({ url, connectionsMax, sharing, onIdleError });
  onTestFinished(() => database.close());
  return database;
}

const many = (database: Database, count: number) =>
  Promise.all(Array.from({ length: count }, () => database.run(SHORT, {})));

const held = ({ use }: Database) => use.inUse + use.idle;

describe('where a server has no connection left for others', () => {
  it('statements wait for those that their pool has', async () => {
    const { url } = await limitedRole(server.url, 2);
    const database = open(url, 8);
    await database.run(ONE, {});
    await many(database, 40);
    expect(held(database)).toBe(2);
  });

  it('a pool without any waits until somebody leaves', async () => {
    const { url } = await limitedRole(server.url, 1);
    const other = await connect(url);
    const { promise: refused, resolve: onFull } = Promise.withResolvers<Error>();
    const answers = many(open(url, 8, new ConnectionSharing(onFull)), 20);
    expect((await refused).message).toBe(
      `too many connections for role "${new URL(url).username}"`,
    );
    await other.end();
    expect(await answers).toHaveLength(20);
  });

  it('a pool without any gets one that another pool of the process does not use', async () => {
    const { url } = await limitedRole(server.url, 3);
    const sharing = new ConnectionSharing();
    const [rich, poor] = [open(url, 8, sharing), open(url, 8, sharing)];
    await many(rich, 10);
    expect(held(rich)).toBe(3);
    expect(await poor.run(ONE, {})).toEqual([1]);
    expect([held(rich), held(poor)]).toEqual([2, 1]);
    await Promise.all([many(rich, 20), many(poor, 20)]);
  });

  it.each([
    'no more connections allowed (max_client_conn)',
    'client connections exceeded (max_db_client_connections)',
    'query_wait_timeout',
  ])('also where it is a pooler that has none, and says so in its own way: %s', async (words) => {
    const url = await startFullPooler(server.url, 3, words);
    const sharing = new ConnectionSharing();
    const [rich, poor] = [open(url, 8, sharing), open(url, 8, sharing)];
    await many(rich, 10);
    expect(held(rich)).toBe(3);
    expect(await poor.run(ONE, {})).toEqual([1]);
  });

  it('a pool that keeps none takes none away from another', async () => {
    const { url } = await limitedRole(server.url, 3);
    const { promise: refusedTwice, resolve } = Promise.withResolvers<void>();
    let refused = 0;
    const sharing = new ConnectionSharing(() => {
      refused += 1;
      if (refused === 2) resolve();
    });
    const rich = open(url, 3, sharing);
    await many(rich, 10);
    const options = { url, connectionsMax: 1, idleMs: 5_000, sharing, onIdleError };
    const poor = new Database(options);
    const asked = expect(poor.run(ONE, {})).rejects.toThrow();
    await Promise.race([refusedTwice, asked]);
    expect(held(rich)).toBe(3);
    await poor.close();
    await asked;
  });

  it('nor does a changed password fail anything while the pool has a connection', async () => {
    const role = await limitedRole(server.url, 8);
    const database = open(role.url, 8);
    await database.run(ONE, {});
    await role.change(`PASSWORD 'another'`);
    await many(database, 40);
    expect(held(database)).toBe(1);
  });

  it('a pool grows again once there is room', async () => {
    const role = await limitedRole(server.url, 1);
    const database = open(role.url, 3);
    await many(database, 10);
    expect(held(database)).toBe(1);
    await role.change('CONNECTION LIMIT 8');
    await expect
      .poll(async () => {
        await many(database, 10);
        return held(database);
      })
      .toBe(3);
  });

  it('nobody waits for a pool that is closed meanwhile', async () => {
    const onRefused = vi.fn();
    const sharing = new ConnectionSharing(onRefused);
    const database = new Database({ url: server.url, connectionsMax: 8, sharing, onIdleError });
    const answer = database.run(SHORT, {});
    await expect.poll(() => database.use.inUse).toBe(1);
    const closed = database.close();
    await expect(database.run(ONE, {})).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    await Promise.all([answer, closed]);
    expect(onRefused).not.toHaveBeenCalled();
  });

  it('the caller is told that PostgreSQL does not answer, and why, if no connection becomes free', async () => {
    const { url } = await limitedRole(server.url, 1);
    const other = await connect(url);
    onTestFinished(() => other.end());
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const sharing = new ConnectionSharing(() => vi.advanceTimersByTime(4_000));
    await expect(open(url, 8, sharing).run(ONE, {})).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/^PostgreSQL: too many connections for role/),
    });
  });

  it('a command that has nothing else to do waits as well, and is told', async () => {
    const { url } = await limitedRole(server.url, 1);
    const other = await connect(url);
    const command = `
      import { ConnectionSharing } from ${JSON.stringify(import.meta.resolve('../../../src/store/server/connection-sharing.ts'))};
      import { Database } from ${JSON.stringify(import.meta.resolve('../../../src/store/database.ts'))};
      const sharing = new ConnectionSharing(() => console.log('refused'));
      const database = new Database({ url: '${url}', connectionsMax: 2, sharing, onIdleError: () => undefined });
      if (!(await database.takesWrites())) process.exitCode = 1;
      await database.close();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', command], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    expect(`${await once(child.stdout, 'data')}`).toMatch(/^refused\n/);
    await other.end();
    expect(await exited).toEqual([0, null]);
  });

  it('no more than 5,000 wait', async () => {
    const { url } = await limitedRole(server.url, 1);
    const other = await connect(url);
    const database = open(url, 8);
    const asked = Array.from({ length: 5_001 }, () => database.run(ONE, {}));
    const told = Promise.allSettled(asked);
    await expect(asked.at(-1)).rejects.toThrow('too many queries wait for PostgreSQL');
    await other.end();
    await told;
  });

  it('who waits is refused once the pool is closed', async () => {
    const { url } = await limitedRole(server.url, 1);
    const refused = vi.fn((_: Error) => void database.close());
    const database = new Database({
      ...{ url, connectionsMax: 8, onIdleError },
      sharing: new ConnectionSharing(refused),
    });
    await database.run(ONE, {});
    const slow = database.run(SLOW, {});
    const late = database.run(ONE, {});
    await expect(late).rejects.toMatchObject({
      message: expect.stringContaining('after calling end'),
    });
    await slow;
    expect(refused).toHaveBeenCalledTimes(1);
  });
});

it('if a server is away, nobody waits for the tries of others', async () => {
  const refused = vi.fn();
  const database = open('postgresql://127.0.0.1:1/gateway', 8, new ConnectionSharing(refused));
  const told = await Promise.allSettled(Array.from({ length: 60 }, () => database.run(ONE, {})));
  const away = { reason: { message: expect.stringContaining('ECONNREFUSED') } };
  expect(told).toMatchObject(told.map(() => away));
  expect(refused).not.toHaveBeenCalled();
});

it('a caller that waits 4 s because all connections are in use is told that, and the server is not blamed', async () => {
  const refused = vi.fn();
  const database = open(server.url, 4, new ConnectionSharing(refused));
  await many(database, 40);
  const other = await connect(server.url);
  onTestFinished(() => other.end());
  await other.query('BEGIN; SELECT pg_advisory_xact_lock(7)');
  const held = Array.from({ length: 4 }, () => database.run(LOCKED, {}));
  // One after another: some of the pool's timers end a fraction of a millisecond before the gateway's own limit.
  const asked: Promise<readonly number[]>[] = [];
  for (let count = 0; count < 60; count++) {
    asked.push(database.run(ONE, {}));
    await sleep(2);
  }
  const queued = await Promise.allSettled(asked);
  expect(refused).not.toHaveBeenCalled();
  const inUse = 'PostgreSQL: all 4 connections of this kind have been in use for 4 s';
  expect(queued).toMatchObject(queued.map(() => ({ reason: { message: inUse } })));
  await other.query('ROLLBACK');
  await Promise.all(held);
});
