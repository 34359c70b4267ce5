import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { balanceBody, profileBody } from '../../src/protocol/callback-bodies.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { type TestBet, type TestPlayer, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { onServer } from '../support/server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const TOTAL_MS = 4_000;
/** Callers give up waiting for a write within the second for which a statement delays those behind it. */
const RESERVE_MS = 1_300;
/** Longer than a statement lets the one beside it wait for company. */
const APART_MS = 20;

let gateway: TestGateway;
let proxy: TcpProxy;
let databaseUrl: string;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: {
      deadline: { totalMs: TOTAL_MS, reserveMs: RESERVE_MS },
      delivery: { minBackoffMs: 50, maxBackoffMs: 200 },
    },
    worker: true,
    through: async (urls) => {
      databaseUrl = urls.databaseUrl;
      proxy = await startTcpProxy(databaseUrl);
      return { ...urls, databaseUrl: proxy.through(databaseUrl) };
    },
  });
});
afterEach(() => proxy.restore());
afterAll(async () => {
  await gateway.close();
  await proxy.close();
});

const stateOf = (bet: TestBet) => betState(databaseUrl, bet.transactionId);
/** A placed bet, as soon as a busy machine has found the time for it. */
async function placed(): Promise<TestBet> {
  let bet: TestBet;
  let answer: CallResult;
  let tries = 0;
  do {
    bet = await unplacedBet(gateway);
    answer = await bet.place();
    tries += 1;
  } while (answer.status !== 200 && tries < 10);
  expect(answer.status).toBe(200);
  return bet;
}
const balanceOf = (player: TestPlayer) =>
  gateway.service.call('POST', '/user/balance', balanceBody(player));
const profileOf = (player: TestPlayer) =>
  gateway.service.call('POST', '/user/profile', profileBody(player.token));

function expectUnavailable(answer: CallResult): void {
  expect([answer.status, answer.json?.code]).toEqual([503, 100]);
}

function expectSystemError(answer: CallResult): void {
  expect([answer.status, answer.json?.code]).toEqual([400, 100]);
}

const outages: [string, () => unknown][] = [
  ['is gone', () => proxy.cut()],
  ['accepts and never answers', () => proxy.freeze()],
];

describe.each(outages)('while PostgreSQL %s', (_, begin) => {
  it('a place is answered 100 in time and never sent (I1, I3)', async () => {
    const { player } = await placed();
    // Two are under way at once; what waits behind them would overtake them after a second.
    const bets = await Promise.all([1, 2, 3, 4, 5, 6].map(() => unplacedBet(gateway, { player })));
    await begin();
    const placing: Promise<CallResult>[] = [];
    for (const bet of bets) {
      placing.push(bet.place());
      const sentAtMs = performance.now();
      // Apart: no two share a batch, so the last ones wait behind the first.
      do await gateway.service.call('GET', '/nowhere', '');
      while (performance.now() - sentAtMs < APART_MS);
    }
    for (const answer of await Promise.all(placing)) expectSystemError(answer);
    await proxy.restore();
    for (const bet of bets) {
      const place = async () => (await stateOf(bet))?.place ?? 'not_sent';
      await expect.poll(place).toBe('not_sent');
      expect(bet.arrivals()).toEqual([]);
    }
    for (const bet of bets) {
      await expect.poll(async () => (await bet.rollback()).status).toBe(200);
      expect(bet.wallet.arrivals(bet.transactionId, 'place')).toEqual([]);
      expect(bet.balance()).toBe('900');
    }
  });

  it('everything about a bet is answered 503 in time, so that the service repeats it', async () => {
    const bet = await placed();
    await begin();
    const answers = await Promise.all([
      bet.settle('25'),
      bet.unsettle(),
      bet.rollback(),
      bet.update('1.7'),
    ]);
    for (const answer of answers) expectUnavailable(answer);
    expect(bet.arrivals()).toEqual(['place']);
    await proxy.restore();
    const repeated = async () => (await bet.rollback()).status;
    await expect.poll(repeated).toBe(200);
    await expect.poll(() => bet.balance()).toBe('1000');
  });

  it('reads go on from cached sessions, and others are answered 503', async () => {
    const [cached, uncached] = [await gateway.player(), await gateway.player()];
    expect((await balanceOf(cached)).status).toBe(200);
    await begin();
    for (const answer of [await balanceOf(cached), await profileOf(cached)]) {
      expect(answer.status).toBe(200);
      expect(answer.json).toMatchObject({ userId: cached.userId });
    }
    expectUnavailable(await balanceOf(uncached));
  });

  it('an acceptance that cannot be committed is answered 100, and a rollback ends it (I3)', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId, point: 'after' });
    const placing = bet.place();
    await gate.arrived;
    await begin();
    gate.release();
    expectSystemError(await placing);
    expect(bet.balance()).toBe('900');
    await proxy.restore();
    // If the outcome is lost for good, only the end of the lease frees the bet.
    const end = 'UPDATE bets SET busy_until = clock_timestamp() WHERE busy_until IS NOT NULL';
    await onServer(databaseUrl, (client) => client.query(end));
    const undone = async () => (await bet.rollback()).status;
    await expect.poll(undone).toBe(200);
    await expect.poll(() => bet.balance()).toBe('1000');
    expect(bet.wallet.arrivals(bet.transactionId, 'place')).toHaveLength(1);
  });

  it('is over, everything goes on without a restart', async () => {
    await begin();
    await proxy.restore();
    const works = async () => (await (await unplacedBet(gateway)).place()).status;
    await expect.poll(works).toBe(200);
  });
});

it('answers a copy of a place from Redis while PostgreSQL is gone (I3)', async () => {
  const bet = await unplacedBet(gateway);
  const first = await bet.place();
  await proxy.cut();
  expect((await bet.place()).body).toBe(first.body);
  expect((await bet.place({ amount: '7' })).json).toMatchObject({ code: 100 });
  const labels = { operation: 'place', source: 'redis' };
  expect(await gateway.metric('gateway_duplicates_total', labels)).toBe(1);
  expect(bet.arrivals()).toEqual(['place']);
});

it('counts what it could not send because PostgreSQL was gone', async () => {
  const bet = await unplacedBet(gateway);
  const labels = { operator: 'alpha', reason: 'database' };
  const before = await gateway.metric('gateway_rejected_total', labels);
  // Its session is known here, and so is its operator.
  expect((await bet.place({ transactionId: '"another-bet"' })).status).toBe(200);
  await proxy.cut();
  expectSystemError(await bet.place());
  expect(await gateway.metric('gateway_rejected_total', labels)).toBe(before + 1);
});
