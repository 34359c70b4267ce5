import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { walletAnswers } from '../../../src/store/bets/wallet-answers.ts';
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
  const answerOf = await walletAnswers(prisma, [one, other], 50);
  const isShown = (operationId: bigint, number: number) =>
    answerOf({ operationId, number, startedAt: AT }) instanceof Uint8Array;
  const shown = [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((number) => isShown(one, number));
  expect(shown).toEqual([1, 2, 8, 9]);
  expect(isShown(other, 1)).toBe(true);
  expect(answerOf({ operationId: one, number: 5, startedAt: AT })).toBeNull();
  expect(answerOf({ operationId: one, number: 10, startedAt: AT })).toBeUndefined();
});
