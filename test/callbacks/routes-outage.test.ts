import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const TOTAL_MS = 1_200;

/** How each callback is answered while PostgreSQL or Redis is away, cut off or frozen. */
let gateway: TestGateway;
let postgres: TcpProxy;
let redis: TcpProxy;

beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS } },
    through: async ({ databaseUrl, redisUrl }) => {
      postgres = await startTcpProxy(databaseUrl);
      redis = await startTcpProxy(redisUrl);
      return { databaseUrl: postgres.through(databaseUrl), redisUrl: redis.through(redisUrl) };
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([postgres.close(), redis.close()]);
});
afterEach(async () => {
  await Promise.all([postgres.restore(), redis.restore()]);
  // Waits until the gateway has recovered, so that the next test does not meet this outage.
  const player = await gateway.player();
  const place = async () => (await (await unplacedBet(gateway, { player })).place()).status;
  await expect.poll(place, { timeout: 10_000 }).toBe(200);
  expect((await gateway.service.balance(player)).status).toBe(200);
  await expect.poll(() => gateway.parts.accelerator.isAnswering(), { timeout: 10_000 }).toBe(true);
});

const code = ({ status, json }: CallResult) => [status, json?.code];

describe.each(['cut', 'freeze'] as const)('while PostgreSQL is away (%s)', (how) => {
  async function bets(): Promise<{ placed: TestBet; unplaced: TestBet }> {
    const placed = await placedBet(gateway);
    const unplaced = await unplacedBet(gateway);
    return { placed, unplaced };
  }

  it('balance and profile are served from cached sessions', async () => {
    const { placed } = await bets();
    await gateway.service.balance(placed.player);
    await postgres[how]();
    expect((await gateway.service.balance(placed.player)).status).toBe(200);
    expect((await gateway.service.profile(placed.player.token)).status).toBe(200);
  });

  it('balance and profile of a session not cached are 503, in time (I1)', async () => {
    const { unplaced } = await bets();
    await postgres[how]();
    const answers = await Promise.all([
      gateway.service.balance(unplaced.player),
      gateway.service.profile(unplaced.player.token),
    ]);
    for (const answer of answers) {
      expect(code(answer)).toEqual([503, 100]);
    }
  });

  it('a place is 400/100 and not sent; all else is 503, in time, so that it is repeated (I1, I3)', async () => {
    const { placed, unplaced } = await bets();
    await postgres[how]();
    const [place, ...others] = await Promise.all([
      unplaced.place(),
      placed.settle('10'),
      placed.settle('10', 'cashout', placed.player.token),
      placed.unsettle(),
      placed.rollback(),
      placed.update('1.5'),
    ]);
    expect(code(place)).toEqual([400, 100]);
    expect(others.map(code)).toEqual(others.map(() => [503, 100]));
    expect([unplaced.arrivals(), placed.arrivals()]).toEqual([[], ['place']]);
  });

  it('what was refused is accepted when it is repeated afterwards', async () => {
    const { placed } = await bets();
    await postgres[how]();
    await placed.settle('10');
    await postgres.restore();
    await expect
      .poll(async () => (await placed.settle('10')).status, { timeout: 10_000 })
      .toBe(200);
    expect(placed.balance()).toBe('910');
    expect(placed.arrivals()).toEqual(['place', 'settle']);
  });
});

describe.each(['cut', 'freeze'] as const)('while Redis is away (%s)', (how) => {
  it('everything keeps working on PostgreSQL alone, and duplicates are still recognised (I5)', async () => {
    const bet = await unplacedBet(gateway);
    await redis[how]();
    const { service } = gateway;
    const reads = [await service.profile(bet.player.token), await service.balance(bet.player)];
    const first = [await bet.place(), await bet.update('1.5'), await bet.settle('10')];
    const again = [await bet.place(), await bet.update('1.5'), await bet.settle('10')];
    const rest = [await bet.unsettle(), await bet.rollback()];
    for (const { status } of [...reads, ...first, ...rest]) expect(status).toBe(200);
    expect(again.map(({ body }) => body)).toEqual(first.map(({ body }) => body));
    expect(bet.arrivals()).toEqual(['place', 'update', 'settle', 'unsettle', 'rollback']);
  });

  it('sessions are opened and revoked, and a revoked one is refused', async () => {
    const player = await gateway.player();
    await redis[how]();
    await gateway.operator('alpha').revokeSessions({ token: player.token });
    expect(code(await gateway.service.balance(player))).toEqual([400, 3]);
    expect((await placedBet(gateway)).arrivals()).toEqual(['place']);
  });
});
