import { afterAll, beforeAll, expect, it } from 'vitest';
import { assignTemplates } from '../../../src/store/bonuses/assignment.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { rowsOf } from '../../support/server.ts';

let database: TestDatabase;
/** One for each of two replicas. */
let prismas: readonly Prisma[];
beforeAll(async () => {
  database = await createDatabase();
  prismas = [createPrisma(database.url), createPrisma(database.url)];
  for (const prisma of prismas) await prisma.bonusTemplate.count();
});
afterAll(async () => {
  for (const prisma of prismas) await prisma.$disconnect();
  await database.drop();
});

it.each([
  ['one operator, as by a double click', ['alpha', 'alpha'], 100],
  ['two operators', ['alpha', 'beta'], 200],
])(
  'of two words at the same moment one counts, and the other is told so: for %s (I12)',
  async (_, operators, from) => {
    for (let id = from; id < from + 20; id += 1) {
      const told = await Promise.all(
        operators.map((operatorId, at) => {
          const prisma = prismas[at];
          if (prisma === undefined) throw new Error('there are two');
          return assignTemplates(prisma, { operatorId, upstreamCid: 'cid' }, [String(id)], BY);
        }),
      );
      expect(told.flatMap(({ assigned }) => assigned)).toEqual([String(id)]);
      const rows = await rowsOf(
        database.url,
        `SELECT 1 FROM audit WHERE subject = 'template ${id}'`,
      );
      expect(rows).toHaveLength(1);
    }
  },
);
