import { afterAll, beforeAll, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/**
 * PostgreSQL's machine loses its power and another one takes its address: the old connections stay silent for ever.
 */

let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  gateway = await startTestGateway({
    through: async ({ databaseUrl, redisUrl }) => {
      postgres = await startTcpProxy(databaseUrl);
      return { databaseUrl: postgres.through(databaseUrl), redisUrl };
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await postgres.close();
});

/** Until then, requests into a dead connection have not been given up. */
const GIVEN_UP_MS = 7_000;
const AT_ONCE = 30;

async function all<T>(count: number, work: (at: number) => Promise<T>): Promise<T[]> {
  return await Promise.all(Array.from({ length: count }, (_, at) => work(at)));
}

/** Sends one request after another without waiting, until one is answered well. */
async function untilAnswered(send: (at: number) => Promise<boolean>): Promise<void> {
  let isAnswered = false;
  let sent = 0;
  const sendNext = () => {
    send(sent).then(
      (isWell) => {
        isAnswered ||= isWell;
      },
      () => undefined,
    );
    sent += 1;
    return isAnswered;
  };
  await expect.poll(sendNext, { interval: 50, timeout: 3 * GIVEN_UP_MS }).toBe(true);
}

it('takes bets and results again by new ones, before the old ones are given up (I7)', async () => {
  // Connections of all kinds are open and idle.
  const bets: TestBet[] = await all(AT_ONCE, () => placedBet(gateway, { amount: '1' }));
  const [first] = bets;
  if (first === undefined) throw new Error('no bets');
  const { player } = first;
  await all(AT_ONCE, async (at) => expect((await bets[at]?.settle('5'))?.status).toBe(200));
  postgres.strand();
  await Promise.all([
    untilAnswered(async () => {
      const bet = await placedBet(gateway, { amount: '1', player });
      return bet.transactionId !== '';
    }),
    untilAnswered(async (at) => (await bets[at]?.unsettle())?.status === 200),
  ]);
});
