import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shownAttempts } from '../../../src/store/bets/shown-attempts.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertOperation } from '../../support/deliveries.ts';

let server: OpenDatabase;
let prisma: Prisma;
beforeAll(async () => {
  server = await openDatabase();
  prisma = createPrisma(server.url);
});
afterAll(async () => {
  await prisma.$disconnect();
  await server.drop();
});

const AT = new Date('2026-11-20T10:00:00Z');

/** An operation with this many attempts, each of which the wallet answered with ten bytes. */
async function attempted(count: number): Promise<bigint> {
  const id = await insertOperation(server.client, 'settle', randomUUID());
  await server.client.query(
    `INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, wallet_body)
     SELECT $1, n, $2, 1, 'http_error', repeat('x', 10)::bytea FROM generate_series(1, $3::int) n`,
    [id, AT, count],
  );
  return BigInt(id);
}

it('reads the answers to the first and the last attempts of each operation, as far as the limit goes (I7)', async () => {
  const [one, other] = [await attempted(9), await attempted(1)];
  await server.client.query('UPDATE attempts SET wallet_body = NULL WHERE number = 3');
  const attempts = await shownAttempts(prisma, [one, other], 50);
  const shown = (of: bigint) => attempts.get(of)?.map(({ view }) => view.answer?.body);
  const [whole, leftOut] = ['x'.repeat(10), ''];
  const between = [undefined, leftOut, leftOut, leftOut, leftOut];
  expect(shown(one)).toEqual([whole, whole, ...between, whole, whole]);
  expect(shown(other)).toEqual([whole]);
});
