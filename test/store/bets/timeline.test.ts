import { expect, it } from 'vitest';
import { BetTimelines } from '../../../src/store/bets/timeline.ts';
import type { Prisma } from '../../../src/store/schema/prisma.ts';
import { partly } from '../../support/partly.ts';

const COUNT = 50;
const AT = new Date(Date.UTC(2026, 10, 23));

/** The delivery shown for a bet with one settle and these deliveries of it. */
async function shownDelivery(
  deliveries: readonly {
    readonly purpose: string;
    readonly state: string;
    readonly held?: boolean;
  }[],
  heldNow?: () => Promise<(operatorId: string) => boolean>,
) {
  const settle = {
    ...{ id: 1n, operation: 'settle', requestId: null, createdAt: AT },
    attemptId: '',
  };
  const rows = deliveries.map((row, at) => ({
    ...{ id: BigInt(at), operationId: 1n, operatorId: 'alpha', held: false },
    ...row,
  }));
  const prisma = partly<Prisma>({
    bet: { findFirst: async () => ({ playerId: null, createdAt: AT }) },
    operation: {
      findMany: async () => [{ ...settle, answerStatus: null, body: Buffer.from('{}') }],
    },
    $queryRaw: async () => [],
    delivery: { findMany: async () => rows },
  });
  const timeline = await new BetTimelines(prisma, heldNow).find('t', undefined);
  return timeline?.operations[0]?.delivery;
}

it('shows what was promised rather than its confirmation, in whatever order they stand', async () => {
  const promise = { purpose: 'promise', state: 'delivered' };
  const confirm = { purpose: 'confirm', state: 'pending' };
  expect(await shownDelivery([promise, confirm])).toEqual({ id: '0', state: 'delivered' });
  expect(await shownDelivery([confirm, promise])).toEqual({ id: '1', state: 'delivered' });
  expect(await shownDelivery([confirm])).toEqual({ id: '0', state: 'pending' });
});

it('but a dead letter first, even of a confirmation: it waits for a person', async () => {
  const promise = { purpose: 'promise', state: 'delivered' };
  const dead = { purpose: 'confirm', state: 'dead' };
  expect(await shownDelivery([promise, dead])).toEqual({ id: '1', state: 'dead' });
  expect(await shownDelivery([dead, promise])).toEqual({ id: '0', state: 'dead' });
});

it('shows people the state of a held one as the list of deliveries does, and operators that it is pending', async () => {
  const heldNow = async () => (operatorId: string) => operatorId === 'beta';
  const pending = { purpose: 'promise', state: 'pending' };
  const ofBeta = { ...pending, operatorId: 'beta' };
  const ofOtherWallet = { ...pending, held: true };
  expect(await shownDelivery([pending], heldNow)).toMatchObject({ state: 'pending' });
  expect(await shownDelivery([ofBeta], heldNow)).toMatchObject({ state: 'held' });
  expect(await shownDelivery([ofOtherWallet], heldNow)).toMatchObject({ state: 'held' });
  expect(await shownDelivery([{ ...ofBeta, state: 'dead' }], heldNow)).toMatchObject({
    state: 'dead',
  });
  expect(await shownDelivery([ofOtherWallet])).toMatchObject({ state: 'pending' });
});

it('goes through the attempts of a bet once, however many operations it has (I7)', async () => {
  let looks = 0;
  const operations = Array.from({ length: COUNT }, (_, at) => ({
    ...{ id: BigInt(at), operation: 'settle', requestId: null, createdAt: AT, attemptId: '' },
    ...{ answerStatus: null, answerBody: null, body: Buffer.from('{}') },
  }));
  const attempts = operations.map(({ id }) => ({
    ...{ number: 1, startedAt: AT, latencyMs: Number(id), result: 'http_error', status: 500 },
    ...{ answerStatus: 503, answerBody: `{"n":${id}}` },
    get operationId() {
      looks += 1;
      return id;
    },
  }));
  const prisma = partly<Prisma>({
    bet: { findFirst: async () => ({ playerId: null, createdAt: AT }) },
    operation: { findMany: async () => operations },
    delivery: { findMany: async () => [] },
    $queryRaw: async () => attempts,
  });
  const timeline = await new BetTimelines(prisma).find('t', undefined);
  const shown = timeline?.operations.map(({ answer, attempts: own }) => [
    answer?.body,
    own.map(({ latencyMs }) => latencyMs),
  ]);
  expect(shown).toEqual(operations.map((_, at) => [`{"n":${at}}`, [at]]));
  expect(looks).toBe(COUNT);
});
