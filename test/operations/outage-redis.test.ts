import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { balanceBody, placeBody } from '../../src/protocol/callback-bodies.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

let gateway: TestGateway;
let replica: TestGateway;
let proxy: TcpProxy;
let direct: Redis;
beforeAll(async () => {
  gateway = await startTestGateway({
    through: async (urls) => {
      direct = new Redis(urls.redisUrl);
      proxy = await startTcpProxy(urls.redisUrl);
      return { ...urls, redisUrl: proxy.through(urls.redisUrl) };
    },
  });
  replica = await gateway.replica();
});
afterEach(() => proxy.restore());
afterAll(async () => {
  direct.disconnect();
  await gateway.close();
  await proxy.close();
});

const placeAt = (where: TestGateway, { slip }: TestBet) =>
  where.service.call('POST', '/payment/bet', placeBody(slip));
const balanceAt = (where: TestGateway, { player }: TestBet) =>
  where.service.call('POST', '/user/balance', balanceBody(player));

const outages: [string, () => unknown][] = [
  ['is gone', () => proxy.cut()],
  ['accepts and never answers', () => proxy.freeze()],
  ['forgets everything', () => direct.flushall()],
];

describe.each(outages)('while Redis %s', (_, begin) => {
  it('a bet goes through its whole life, each step once (I3, I5)', async () => {
    const bet = await unplacedBet(gateway);
    await begin();
    const first = await bet.place();
    expect(first.status).toBe(200);
    expect((await bet.place()).body).toBe(first.body);
    expect((await bet.settle('25')).status).toBe(200);
    expect((await bet.settle('25')).status).toBe(200);
    expect((await bet.unsettle()).status).toBe(200);
    expect((await bet.rollback()).status).toBe(200);
    expect((await bet.rollback()).status).toBe(200);
    expect((await bet.place()).json).toMatchObject({ code: 8 });
    expect(bet.arrivals()).toEqual(['place', 'settle', 'unsettle', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });

  it('copies on two replicas are still one bet (I5)', async () => {
    const bet = await unplacedBet(gateway);
    await begin();
    const copies = Array.from({ length: 10 }, (_, index) =>
      placeAt(index % 2 === 0 ? gateway : replica, bet),
    );
    const answers = await Promise.all(copies);
    expect(answers.map(({ status }) => status)).toEqual(copies.map(() => 200));
    expect(bet.arrivals()).toEqual(['place']);
  });

  it('players are found, and reads answered in time (I1)', async () => {
    const bet = await unplacedBet(gateway);
    expect((await balanceAt(gateway, bet)).status).toBe(200);
    await begin();
    for (const where of [gateway, replica]) {
      const answer = await balanceAt(where, bet);
      expect(answer.status).toBe(200);
    }
  });

  it('a token that is revoked is refused, on the other replica too (I8)', async () => {
    const bet = await unplacedBet(gateway);
    await begin();
    const operator = gateway.operator('alpha');
    const { json } = await operator.revokeSessions({ token: bet.player.token });
    await operator.close();
    expect(json).toMatchObject({ revoked: 1 });
    expect((await placeAt(replica, bet)).json).toMatchObject({ code: 3 });
    expect(bet.arrivals()).toEqual([]);
  });
});
