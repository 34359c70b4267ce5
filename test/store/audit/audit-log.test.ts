import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditLog } from '../../../src/store/audit/audit-log.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

let database: TestDatabase;
let prisma: Prisma;
let audit: AuditLog;
beforeAll(async () => {
  database = await createDatabase();
  prisma = createPrisma(database.url);
  audit = new AuditLog(prisma);
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});

const raw = (text: string) => onServer(database.url, (client) => client.query(text));

describe('the audit', () => {
  it('says who did what to what, when, from where and why (I12)', async () => {
    await audit.append(BY, {
      action: 'person.signed_in',
      subject: 'person ann',
      operator: 'alpha',
      before: { a: null },
      after: { text: 'ü\u2028' },
    });
    const { items, nextCursor } = await audit.page({ actor: 'ann' });
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^\d+$/),
        at: expect.stringMatching(/Z$/),
        actor: 'ann',
        role: 'admin',
        address: '192.0.2.1',
        action: 'person.signed_in',
        subject: 'person ann',
        operator: 'alpha',
        before: { a: null },
        after: { text: 'ü\u2028' },
        reason: 'OPS-17',
      },
    ]);
    expect(nextCursor).toBeNull();
  });

  it.each([
    'UPDATE audit SET reason = NULL',
    'DELETE FROM audit',
    'TRUNCATE audit',
    "INSERT INTO audit (id, actor, role, address, action, subject) SELECT min(id), 'x', 'x', 'x', 'x', 'x' FROM audit ON CONFLICT (id) DO UPDATE SET actor = 'x'",
  ])('is only ever added to, by its own role too: %s (I12)', async (text) => {
    await audit.append(BY, { action: 'bonus.assign', subject: 'template 1' });
    const before = await raw('SELECT * FROM audit ORDER BY id');
    await expect(raw(text)).rejects.toThrow('the audit is append-only');
    expect((await raw('SELECT * FROM audit ORDER BY id')).rows).toEqual(before.rows);
  });

  it('is read newest first, a hundred a page, and all of it in one go', async () => {
    const by = { caller: { ...BY.caller, actor: 'many' } };
    for (let count = 0; count < 205; count += 1) {
      await audit.append(by, { action: 'delivery.retry', subject: `delivery ${count}` });
    }
    const first = await audit.page({ actor: 'many' });
    expect(first.items).toHaveLength(100);
    expect(first.items[0]?.subject).toBe('delivery 204');
    const second = await audit.page({ actor: 'many', cursor: first.nextCursor ?? '' });
    expect(second.items[0]?.subject).toBe('delivery 104');
    const all: string[] = [];
    for await (const { subject } of audit.all({ actor: 'many' })) all.push(subject);
    expect(new Set(all).size).toBe(205);
  });

  it('is read whole where more rows than a page have the same time (I12)', async () => {
    // As one transaction writes them, for each of the deliveries that somebody has retried.
    await raw(`INSERT INTO audit (at, actor, role, address, action, subject)
               SELECT '2026-05-10T08:00:00Z'::timestamptz + (n / 250) * interval '1 minute',
                      'bulk', 'admin', '', 'x', n::text FROM generate_series(0, 499) n`);
    const read: number[] = [];
    const query = { from: new Date('2026-05-10'), to: new Date('2026-05-11') };
    for await (const { subject } of audit.all(query)) read.push(Number(subject));
    expect(read).toEqual(Array.from({ length: 500 }, (_, at) => 499 - at));
  });

  it('is filtered by actor, action, operator and time', async () => {
    const at = new Date();
    await audit.append(BY, { action: 'breaker.set', subject: 'breaker x', operator: 'only-here' });
    const subjects = async (query: Parameters<AuditLog['page']>[0]) =>
      (await audit.page(query)).items.map(({ subject }) => subject);
    expect(await subjects({ action: 'breaker.set' })).toEqual(['breaker x']);
    expect(await subjects({ operator: 'only-here' })).toEqual(['breaker x']);
    expect(
      await subjects({ operator: 'only-here', from: new Date(at.getTime() - 60_000) }),
    ).toEqual(['breaker x']);
    expect(await subjects({ operator: 'only-here', to: new Date(at.getTime() - 60_000) })).toEqual(
      [],
    );
    expect(await subjects({ actor: "ann' OR true --" })).toEqual([]);
  });

  it('says of each person once in some minutes that the person has looked at a player (I12)', async () => {
    const look = async (actor: string, userId: string) =>
      await audit.appendView(
        { caller: { ...BY.caller, actor } },
        { action: 'player.viewed', subject: `player ${userId}` },
      );
    await look('dan', 'one');
    await look('dan', 'one');
    await look('eve', 'one');
    await look('dan', 'two');
    const { items } = await audit.page({ action: 'player.viewed' });
    expect(items.map(({ actor, subject }) => [actor, subject])).toEqual([
      ['dan', 'player two'],
      ['eve', 'player one'],
      ['dan', 'player one'],
    ]);
  });
});
