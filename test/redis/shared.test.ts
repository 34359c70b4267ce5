import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { acceptedBet } from '../money-safety/support/bets.ts';
import { PATIENCE } from '../money-safety/support/patience.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/** Two gateways, such as production and staging, with a database each and one Redis. */

let one: TestGateway;
let other: TestGateway;
let othersPostgres: TcpProxy;
beforeAll(async () => {
  const options = {
    worker: true,
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 100 } },
    operators: {
      alpha: { wallet: { breaker: { minRequests: 100_000 } } },
      beta: { sessions: { mode: 'prefixed' } },
    },
  };
  one = await startTestGateway(options);
  other = await startTestGateway({
    ...options,
    through: async ({ databaseUrl }) => {
      othersPostgres = await startTcpProxy(databaseUrl);
      return { databaseUrl: othersPostgres.through(databaseUrl), redisUrl: one.redisUrl };
    },
  });
});
afterAll(async () => {
  await Promise.all([one.close(), other.close()]);
  await othersPostgres.close();
});

it('a session of one is unknown to the other, even if a player has the same token at both (I8)', async () => {
  const open = async (gateway: TestGateway) => {
    const tokens = { 'anns-token': 'USD' };
    gateway.wallet('beta').addPlayer({ user: 'ann', balances: { USD: '10' }, tokens });
    const { player } = await gateway.service.profile('beta.anns-token');
    if (player === undefined) throw new Error('no profile');
    return player;
  };
  const ann = { here: await open(one), there: await open(other) };
  expect((await one.service.balance(ann.here)).status).toBe(200);
  const codeOf = async (player: typeof ann.here) => {
    const { status, json } = await other.service.balance(player);
    return status === 200 ? 200 : json?.code;
  };
  expect([await codeOf(ann.there), await codeOf(ann.here)]).toEqual([200, 3]);
});

it('an answer of one is never given by the other while its PostgreSQL is away (I3)', async () => {
  const bet = await acceptedBet(one);
  const isRemembered = () => one.parts.answers.find(bet.transactionId);
  await expect.poll(isRemembered, PATIENCE).toBeDefined();
  await othersPostgres.cut();
  onTestFinished(() => othersPostgres.restore());
  const { status, json } = await bet.at(other).place();
  expect([status, json?.code]).toEqual([400, 100]);
});

it('a rollback at either keeps both from answering a copy of its place (I6)', async () => {
  // What one release has written is valid for the next one running beside it.
  const bet = await acceptedBet(one);
  const isRemembered = () => one.parts.answers.find(bet.transactionId);
  await expect.poll(isRemembered, PATIENCE).toBeDefined();
  await other.parts.answers.fence(bet.transactionId);
  expect(await isRemembered()).toBeUndefined();
});
