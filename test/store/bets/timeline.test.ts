import { expect, it } from 'vitest';
import { BetTimelines } from '../../../src/store/bets/timeline.ts';
import type { Prisma } from '../../../src/store/schema/prisma.ts';
import { partly } from '../../support/partly.ts';

const COUNT = 50;
const AT = new Date(Date.UTC(2026, 10, 23));

it('goes through the attempts of a bet once, however many operations it has (I7)', async () => {
  let looks = 0;
  const operations = Array.from({ length: COUNT }, (_, at) => ({
    ...{ id: BigInt(at), operation: 'settle', requestId: null, createdAt: AT, attemptId: '' },
    ...{ answerStatus: null, answerBody: null, body: Buffer.from('{}') },
  }));
  const attempts = operations.map(({ id }) => ({
    ...{ number: 1, startedAt: AT, latencyMs: Number(id), result: 'http_error', status: 500 },
    ...{ answerStatus: 503, answerBody: `{"n":${id}}`, walletBody: null },
    get operationId() {
      looks += 1;
      return id;
    },
  }));
  const prisma = partly<Prisma>({
    bet: { findFirst: async () => ({ playerId: null, createdAt: AT }) },
    operation: { findMany: async () => operations },
    attempt: { findMany: async () => attempts },
    delivery: { findMany: async () => [] },
  });
  const timeline = await new BetTimelines(prisma).find('t', undefined);
  const shown = timeline?.operations.map(({ answer, attempts: own }) => [
    answer?.body,
    own.map(({ latencyMs }) => latencyMs),
  ]);
  expect(shown).toEqual(operations.map((_, at) => [`{"n":${at}}`, [at]]));
  expect(looks).toBe(COUNT);
});
