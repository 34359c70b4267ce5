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

it('does not take the template of another account for one with the same id, nor wake the creates there (I12)', async () => {
  const [prisma] = prismas;
  if (prisma === undefined) throw new Error('there are two');
  const assign = (operatorId: string, upstreamCid: string) =>
    assignTemplates(prisma, { operatorId, upstreamCid }, ['7'], BY);
  expect(await assign('beta', 'own')).toMatchObject({ assigned: ['7'], taken: [] });
  const waiting = { operatorId: 'alpha', body: '{}', kind: 'create', ambiguous: true };
  const lookAt = new Date('2030-01-01T00:00:00Z');
  for (const upstreamCid of ['own', 'cid']) {
    const bodyHash = Buffer.from(upstreamCid);
    await prisma.bonusIntent.create({ data: { ...waiting, upstreamCid, bodyHash, lookAt } });
  }
  expect(await assign('alpha', 'cid')).toEqual({ assigned: ['7'], unchanged: [], taken: [] });
  const owners = await rowsOf(
    database.url,
    'SELECT upstream_cid, operator_id FROM bonus_templates WHERE template_id = 7 ORDER BY 1',
  );
  expect(owners).toEqual([
    { upstream_cid: 'cid', operator_id: 'alpha' },
    { upstream_cid: 'own', operator_id: 'beta' },
  ]);
  const intents = await prisma.bonusIntent.findMany({ orderBy: { upstreamCid: 'asc' } });
  expect(intents.map((intent) => intent.lookAt < lookAt)).toEqual([true, false]);
});
