import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type RoundTrip, RoundTrips } from '../support/round-trips.ts';

/** Servers are far away: each of these adds the whole way to the answer (docs/databases.md, Distance). */
const PG = 'PostgreSQL';
const REDIS = 'Redis';

const TRIES = 6;

/** What a process asks now and then by itself; the time by a statement that ends so. */
const trips = new RoundTrips(['AS now_ms\0', 'DISCARD PLANS']);
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    through: async ({ databaseUrl, redisUrl }) => ({
      databaseUrl: await trips.through(PG, databaseUrl),
      redisUrl: await trips.through(REDIS, redisUrl),
    }),
  });
  // Opens the connections that everything needs.
  await Promise.all([1, 2, 3, 4].map(everything));
});
afterAll(async () => {
  await gateway.close();
  await trips.close();
});

async function everything(): Promise<void> {
  const bet = await placedBet(gateway);
  await gateway.service.balance(bet.player);
  await gateway.service.profile(bet.player.token);
  await bet.settle('10');
  await bet.unsettle();
  await bet.rollback();
}

/** What a busy machine does late makes more of them: one try of a few that needs no more is enough. */
async function expectTrips(
  prepared: () => Promise<() => Promise<unknown>>,
  expected: readonly RoundTrip[],
): Promise<void> {
  const found: (readonly RoundTrip[])[] = [];
  for (let n = 0; n < TRIES; n += 1) {
    const asked = await trips.of(await prepared());
    found.push(asked);
    if (isDeepStrictEqual(asked, expected)) return;
  }
  expect(found).toContainEqual(expected);
}

const aboutBet = (work: (bet: TestBet) => Promise<unknown>) => async () => {
  const bet = await placedBet(gateway);
  return () => work(bet);
};
const aboutSettled = (work: (bet: TestBet) => Promise<unknown>) => async () => {
  const bet = await placedBet(gateway);
  expect((await bet.settle('10')).status).toBe(200);
  return () => work(bet);
};

describe('no callback waits for more round trips than it needs:', () => {
  it('a place two, of a token that this process has not seen one more', async () => {
    const place = async (token: 'known' | 'new') => {
      const player = await gateway.player();
      if (token === 'known') await gateway.service.place({ ...player, amount: '1' });
      return () => gateway.service.place({ ...player, amount: '1' });
    };
    await expectTrips(() => place('known'), [PG, PG]);
    await expectTrips(() => place('new'), [PG, PG, PG]);
  });

  it('a settle three, a settle after another one four, an unsettle four', async () => {
    const settle = (bet: TestBet) => bet.settle('20');
    await expectTrips(aboutBet(settle), [PG, PG, PG]);
    await expectTrips(aboutSettled(settle), [PG, PG, PG, PG]);
    await expectTrips(
      aboutSettled((bet) => bet.unsettle()),
      [PG, PG, PG, PG],
    );
  });

  it('a rollback three, since its fence in Redis is written while the bet is read (I6)', async () => {
    await expectTrips(
      aboutBet((bet) => bet.rollback()),
      [`${PG} and ${REDIS}`, PG, PG],
    );
  });

  it('an update three', async () => {
    await expectTrips(
      aboutBet((bet) => bet.update('1.5')),
      [PG, PG, PG],
    );
  });

  it('a read one to Redis, of a token that it has not seen one more, and waits for no write to it', async () => {
    const read = (kind: 'balance' | 'profile', isKnown: boolean) => async () => {
      const player = await gateway.player();
      const ask = async () =>
        kind === 'balance'
          ? await gateway.service.balance(player)
          : await gateway.service.profile(player.token);
      if (isKnown) await ask();
      return ask;
    };
    for (const kind of ['balance', 'profile'] as const) {
      await expectTrips(read(kind, true), [REDIS]);
      await expectTrips(read(kind, false), [REDIS, PG]);
    }
  });
});
