import { afterAll, beforeAll, expect, it } from 'vitest';
import { AuditLog } from '../../../src/store/audit/audit-log.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

const HOUR_MS = 3_600_000;

let database: TestDatabase;
let prisma: Prisma;
beforeAll(async () => {
  database = await createDatabase();
  const name = new URL(database.url).pathname.slice(1);
  await onServer(database.url, (client) =>
    client.query(`ALTER DATABASE "${name}" SET timezone = 'America/New_York'`),
  );
  prisma = createPrisma(database.url);
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});

it('tells and takes times as they are, whatever the database’s time zone is (I12)', async () => {
  const audit = new AuditLog(prisma);
  const nowMs = Date.now();
  await audit.append(BY, { action: 'bonus.assign', subject: 'template 1' });
  const [row] = (await audit.page({})).items;
  expect(Math.abs(Date.parse(row?.at ?? '') - nowMs)).toBeLessThan(HOUR_MS);
  const around = { from: new Date(nowMs - HOUR_MS), to: new Date(nowMs + HOUR_MS) };
  expect((await audit.page(around)).items).toEqual([row]);
  const before = { from: new Date(nowMs - 6 * HOUR_MS), to: new Date(nowMs - HOUR_MS) };
  expect((await audit.page(before)).items).toEqual([]);
});
