import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openPieces } from '../../../src/store/deliveries/open-count.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

let journal: TestJournal;
let prisma: Prisma;
beforeAll(async () => {
  journal = await openTestJournal();
  prisma = createPrisma(journal.url);
});
afterAll(async () => {
  await prisma.$disconnect();
  await journal.close();
});
beforeEach(() => journal.sql('TRUNCATE bets, operations, attempts, deliveries, operator_holds'));

it.each([1, 2, 3, 5, 6])('counts each open delivery once, %i at a time', async (atOnce) => {
  await onServer(journal.url, (client) =>
    insertBacklog(client, {
      ...journal.owner,
      sessionId: journal.sessionId,
      prefix: 'bet',
      count: 5,
    }),
  );
  await journal.sql(
    `UPDATE deliveries SET operator_id = 'beta' WHERE transaction_id IN ('bet-2', 'bet-5')`,
  );
  const walk = { state: 'pending', operator: undefined, operation: undefined, atOnce } as const;
  const free = new Map<string, number>();
  for await (const { rows } of openPieces(prisma, walk)) {
    for (const row of rows) free.set(row.operator, (free.get(row.operator) ?? 0) + row.free);
  }
  expect(Object.fromEntries(free)).toEqual({ alpha: 3, beta: 2 });
});
