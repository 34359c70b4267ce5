import { afterAll, beforeAll, expect, it } from 'vitest';
import { AuditLog } from '../../../src/store/audit/audit-log.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { placedBet } from '../../support/bet.ts';
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
