import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { AuditLog } from '../../../src/store/audit/audit-log.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { placedBet } from '../../support/bet.ts';
import { createBareDatabase } from '../../support/database.ts';
import { insertDelivery } from '../../support/deliveries.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { asPerson } from '../../support/person.ts';
import { onServer } from '../../support/server.ts';

let gateway: TestGateway;
let prisma: Prisma;
/** The journal of another installation, in `public`. */
let others: string;
beforeAll(async () => {
  gateway = await startTestGateway({
    through: async (urls) => {
      others = urls.databaseUrl;
      await onServer(others, (client) => client.query('CREATE SCHEMA "Wager-gate"'));
      const own = new URL(others);
      own.searchParams.set('options', '-c search_path="Wager-gate"');
      await migrate(own.href);
      return { ...urls, databaseUrl: own.href };
    },
  });
  prisma = createPrisma(gateway.databaseUrl);
});
afterAll(async () => {
  await prisma.$disconnect();
  await gateway.close();
});

it('the story of a bet is read from the schema in which it was written', async () => {
  const { transactionId } = await placedBet(gateway);
  expect(await gateway.operator('alpha').bet(transactionId)).toMatchObject({
    status: 200,
    json: { transactionId, state: 'accepted' },
  });
});

it('people see and change only its content, and nothing of another installation beside it (I8)', async () => {
  const theirs = await onServer(others, (client) => insertDelivery(client, { state: 'dead' }));
  const isTheirs = `SELECT state FROM deliveries WHERE id = ${theirs}`;
  await asPerson(gateway, async (admin) => {
    expect(await admin.list({})).toEqual({ items: [], nextCursor: null });
    expect(await admin.retry(theirs, BY)).toEqual({ kind: 'missing' });
  });
  const ours = await onServer(gateway.databaseUrl, (client) =>
    insertDelivery(client, { state: 'dead' }),
  );
  await asPerson(gateway, async (admin) => {
    expect((await admin.list({})).items).toMatchObject([{ id: ours, state: 'dead' }]);
    expect(await admin.resolve(ours, 'ann', 'paid', BY)).toMatchObject({ kind: 'resolved' });
  });
  const { rows } = await onServer(others, (client) => client.query(isTheirs));
  expect(rows).toEqual([{ state: 'dead' }]);
  await new AuditLog(prisma).append(BY, { action: 'player.exported', subject: 'player x' });
  expect((await new AuditLog(prisma).page({})).items).toMatchObject([
    { subject: 'player x' },
    { action: 'delivery.resolve' },
  ]);
});

it('months that only another installation’s journal has are made here too', async () => {
  const month = "SELECT journal_prepare_month(now() + interval '1 year') AS made";
  const made = (url: string) => onServer(url, async (client) => (await client.query(month)).rows);
  expect(await made(others)).toEqual([{ made: 2 }]);
  const url = new URL(others);
  url.searchParams.set('options', '-c search_path="Wager-gate",public');
  expect(await made(url.href)).toEqual([{ made: 2 }]);
  expect(await made(url.href)).toEqual([{ made: 0 }]);
});

it('another program’s migrations behind it in the search_path do no harm', async () => {
  const database = await createBareDatabase();
  onTestFinished(() => database.drop());
  await onServer(database.url, (client) =>
    client.query(
      `CREATE SCHEMA wg; CREATE TABLE _prisma_migrations (migration_name text, finished_at timestamptz, rolled_back_at timestamptz);
       INSERT INTO _prisma_migrations VALUES ('20200101000000_shop', now(), NULL)`,
    ),
  );
  const own = new URL(database.url);
  own.searchParams.set('options', '-c search_path=wg,public');
  expect((await migrate(own.href)).applied).not.toEqual([]);
  expect(await migrate(own.href)).toEqual({ applied: [] });
});

it('what another program in the same schema has begun and not finished is left alone', async () => {
  const database = await createBareDatabase();
  onTestFinished(() => database.drop());
  await onServer(database.url, (client) =>
    client.query(
      `CREATE TABLE _prisma_migrations (
         id VARCHAR(36) PRIMARY KEY, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
         migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
         started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0);
       INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('x', 'x', '20200101000000_shop')`,
    ),
  );
  const said: string[] = [];
  await migrate(database.url, { log: (line) => said.push(line) });
  expect(said.filter((line) => line.includes('shop'))).toEqual([]);
  const { rows } = await onServer(database.url, (client) =>
    client.query(`SELECT rolled_back_at FROM _prisma_migrations WHERE id = 'x'`),
  );
  expect(rows).toEqual([{ rolled_back_at: null }]);
});
