import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment/environment.ts';
import { awaitDatabase } from '../../src/process/start-up.ts';
import { ADMIN_TOKEN, ask } from '../admin/support/admin.ts';
import { placedBet } from '../support/bet.ts';
import { createBareDatabase, createDatabase, type TestDatabase } from '../support/database.ts';
import { startTestGateway } from '../support/gateway.ts';
import { pendingThere } from '../support/migrations.ts';
import { databaseUrl } from '../support/server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { TestClock } from '../support/test-clock.ts';

/** Each look at it is five seconds later than the previous one. */
class HastyClock extends TestClock {
  override monotonicMs = () => {
    this.atMs += 5_000;
    return this.atMs;
  };
}

function start(usual: string, direct: string): Promise<string> {
  const environment = readEnvironment({
    DATABASE_URL: usual,
    DATABASE_DIRECT_URL: direct,
    MIGRATE_ON_START: 'true',
    REDIS_URL: 'redis://127.0.0.1:1',
  });
  return awaitDatabase(environment, new HastyClock(), pino({ level: 'silent' }));
}

describe('a start with two addresses of one database', () => {
  let bare: TestDatabase;
  let pooler: TcpProxy;
  let usual: string;
  beforeEach(async () => {
    bare = await createBareDatabase();
    pooler = await startTcpProxy(bare.url);
    usual = pooler.through(bare.url);
  });
  afterEach(async () => {
    await pooler.close();
    await bare.drop();
  });

  it('migrates over the direct one: a lock of a session is of no use behind a pooler', async () => {
    // A process that took the lock through the pooler would wait here for ever.
    pooler.holdRequest('pg_try_advisory_lock');
    await start(usual, bare.url);
    expect(await pendingThere(bare.url)).toEqual([]);
  });

  it('refuses two that lead to different databases', async () => {
    const other = await createDatabase();
    await start(bare.url, bare.url);
    await expect(start(usual, other.url)).rejects.toThrow(/lead to different databases/);
    await other.drop();
  });

  it('says which of them cannot be reached', async () => {
    const nobody = 'postgresql://user:geheim@127.0.0.1:1/gateway';
    const refusal = expect(start(usual, nobody)).rejects;
    await refusal.toThrow(
      /^PostgreSQL \(DATABASE_DIRECT_URL, .*127\.0\.0\.1:1.*(?:ECONNREFUSED|EPIPE)/,
    );
  });
});

it('a list is compared over the direct address, callbacks go over the other', async () => {
  const direct = databaseUrl(inject('postgresUrl'), 'nowhere');
  const gateway = await startTestGateway({ env: { ADMIN_TOKEN, DATABASE_DIRECT_URL: direct } });
  await placedBet(gateway);
  const { app } = gateway.parts.adminServer();
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const answer = await ask(
    `${baseUrl}/admin/reconciliations?operator=alpha&from=2026-01-01&to=2026-01-02`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      body: 'transactionId\nx\n',
    },
  );
  expect(answer).toMatchObject({ status: 503 });
  await app.close();
  await gateway.close();
});
