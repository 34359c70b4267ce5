import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody, type RawFields } from '../../src/protocol/callback-bodies.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { acceptedBet } from '../money-safety/support/bets.ts';
import { asPlayer, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const TOTAL_MS = 2_500;

let gateway: TestGateway;
let replica: TestGateway;
let redis: Redis;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: 800 } },
    operators: { alpha: {}, beta: {} },
  });
  replica = await gateway.replica();
  redis = new Redis(gateway.redisUrl);
});
afterAll(async () => {
  redis.disconnect();
  await gateway.close();
});

/** Sends the bet's place to a replica of the test's choice. */
const placeAt = (where: TestGateway, { slip }: TestBet, more?: RawFields) =>
  where.service.call('POST', '/payment/bet', placeBody(slip, more));

const duplicates = (where: TestGateway, source: string) =>
  where.metric('gateway_duplicates_total', { operator: 'alpha', operation: 'place', source });

describe('a copy of a place bet that was answered', () => {
  const answers: [string, Misbehaviour | undefined][] = [
    ['accepted', undefined],
    ['declined', { kind: 'code', code: 14, message: 'Self-excluded' }],
    ['left unknown', { kind: 'code', code: 8 }],
    ['broken', { kind: 'html' }],
  ];

  it.each(answers)('as %s gives the same answer, the wallet is not asked (I5)', async (_, odd) => {
    const bet = await unplacedBet(gateway);
    if (odd !== undefined) bet.wallet.misbehave('place', odd, { calls: 1 });
    const first = await bet.place();
    for (const where of [gateway, replica]) {
      const copy = await placeAt(where, bet);
      expect([copy.status, copy.body]).toEqual([first.status, first.body]);
    }
    await redis.flushall();
    expect((await bet.place()).body).toBe(first.body);
    expect(bet.arrivals()).toEqual(['place']);
  });

  it('is answered whatever has become of its session, operator and wallet', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'beta' });
    const operator = gateway.operator('beta');
    await operator.revokeSessions({ operatorUser: bet.player.user });
    await operator.close();
    await gateway.reconfigure('beta', { status: 'suspended' });
    await bet.wallet.down();
    await redis.flushall();
    expect((await bet.place()).status).toBe(200);
    expect((await bet.place({ token: '"a-token-of-nobody"' })).status).toBe(200);
    await bet.wallet.up();
    await gateway.reconfigure('beta', { status: 'active' });
  });
});

describe('a copy of a place bet that is in flight', () => {
  it.each([
    ['this replica', () => gateway],
    ['another replica', () => replica],
  ])('joins it on %s, and is given its answer (I5)', async (_, where) => {
    const bet = await unplacedBet(gateway);
    const before = await duplicates(where(), 'in_flight');
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId });
    const first = bet.place();
    await gate.arrived;
    const copy = placeAt(where(), bet);
    await bet.at(where()).isWaitedFor();
    gate.release();
    const [one, other] = await Promise.all([first, copy]);
    expect([one.status, other.status, other.body]).toEqual([200, 200, one.body]);
    expect(bet.arrivals()).toEqual(['place']);
    expect(await duplicates(where(), 'in_flight')).toBe(before + 1);
  });

  it('is one of many, on two replicas at once, and Redis knows nothing (I5)', async () => {
    const bet = await unplacedBet(gateway);
    const flushed = redis.flushall();
    const copies = Array.from({ length: 12 }, (_, index) =>
      placeAt(index % 2 === 0 ? gateway : replica, bet),
    );
    const answers = await Promise.all(copies);
    await flushed;
    expect(answers.map(({ status }) => status)).toEqual(copies.map(() => 200));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(bet.arrivals()).toEqual(['place']);
    expect(bet.balance()).toBe('900');
  });
});

describe('a place bet with the transactionId of another', () => {
  const contradictions: [string, (bet: TestBet) => unknown][] = [
    ['amount', () => ({ amount: '100.01' })],
    ['amount, by less than a double can tell', () => ({ amount: '100.00000000000000000001' })],
    ['currency', () => ({ currency: '"EUR"' })],
    ['player', async () => asPlayer(await gateway.player())],
    ['player and session', async () => sessionOf(await gateway.player())],
    ['operator', async () => sessionOf(await gateway.player({ operatorId: 'beta' }))],
  ];
  const sessionOf = (player: { userId: string; token: string }) => ({
    userId: JSON.stringify(player.userId),
    token: JSON.stringify(player.token),
  });

  it.each(contradictions)('and another %s is refused and counted (I10)', async (_, contradict) => {
    const bet = await acceptedBet(gateway);
    const more = await contradict(bet);
    const before = await gateway.metric('gateway_conflicts_total', { operator: 'alpha' });
    const answer = await bet.place(Object.fromEntries(Object.entries(more ?? {})));
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(answer.json?.message).toContain('transactionId');
    expect(bet.arrivals()).toEqual(['place']);
    expect(await gateway.metric('gateway_conflicts_total', { operator: 'alpha' })).toBe(before + 1);
    expect((await bet.place()).status).toBe(200);
  });

  it('is one of two that come together: one is placed, the other refused (I10)', async () => {
    const bet = await unplacedBet(gateway);
    const answers = await Promise.all([bet.place(), placeAt(replica, bet, { amount: '40' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect(bet.arrivals()).toEqual(['place']);
  });
});
