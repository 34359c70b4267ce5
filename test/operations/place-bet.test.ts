import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asPlayer, expireSession, placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { onServer } from '../support/server.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: 600 } },
    operators: { alpha: {}, beta: { subPartnerId: 'beta-site' } },
  });
});
afterAll(() => gateway.close());

const stateOf = (bet: { transactionId: string }) =>
  betState(gateway.databaseUrl, bet.transactionId);

describe('a place bet that the wallet accepts', () => {
  it('debits the stake and passes the wallet’s transactionTime on', async () => {
    const bet = await unplacedBet(gateway, { amount: '12.10' });
    const answer = await bet.place();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      transactionId: bet.transactionId,
      transactionTime: bet.wallet.bets.get(bet.transactionId)?.times.place,
    });
    expect(bet.balance()).toBe('987.9');
    expect(await stateOf(bet)).toMatchObject({ place: 'accepted', attempts: ['accepted'] });
  });

  it('is in the journal before it is sent (I3)', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId });
    const placing = bet.place();
    await gate.arrived;
    expect(await stateOf(bet)).toMatchObject({
      place: 'in_flight',
      busy: 'place',
      operations: ['place'],
      attempts: [],
    });
    gate.release();
    expect((await placing).status).toBe(200);
  });

  it('is answered 100 in time when its acceptance cannot be committed (I1, I3)', async () => {
    const bet = await unplacedBet(gateway, { amount: '100' });
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId, point: 'after' });
    const placing = bet.place();
    await gate.arrived;
    const answer = await onServer(gateway.databaseUrl, async (client) => {
      await client.query('BEGIN');
      const lock = 'SELECT FROM bets WHERE transaction_id = $1 FOR UPDATE';
      await client.query(lock, [bet.transactionId]);
      gate.release();
      return await placing;
    });
    expect([answer.status, answer.json?.code]).toEqual([400, 100]);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.balance()).toBe('1000');
  });
});

describe('a place bet that the wallet declines', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 14, 15, 16, 20, 77])(
    'is declined with its code %i, and nothing is left to roll back (I2)',
    async (code) => {
      const bet = await unplacedBet(gateway);
      const message = 'Überzogen, "really"';
      bet.wallet.misbehave('place', { kind: 'code', code, message }, { calls: 1 });
      const answer = await bet.place();
      expect([answer.status, answer.json]).toEqual([400, { code, message }]);
      expect(await stateOf(bet)).toMatchObject({ place: 'declined', attempts: ['declined'] });
      expect((await bet.rollback()).status).toBe(200);
      expect(bet.arrivals()).toEqual(['place']);
    },
  );

  it.each([
    ['a NUL', '"a\\u0000b"'],
    ['half a character', '"\\ud800"'],
    ['half a character at its end', JSON.stringify(`${'x'.repeat(254)}😀`)],
  ])('with %s in its message gives every copy the same answer (I5)', async (_, message) => {
    const bet = await unplacedBet(gateway);
    const body = `{"code":7,"message":${message}}`;
    bet.wallet.misbehave('place', { kind: 'status', status: 400, body }, { calls: 1 });
    const answer = await bet.place();
    expect([answer.status, answer.json?.code]).toEqual([400, 7]);
    expect((await bet.place()).body).toBe(answer.body);
    expect(bet.arrivals()).toEqual(['place']);
  });
});

describe('a place bet without a token of its player and currency', () => {
  const token = (value: string) => ({ token: JSON.stringify(value) });

  it.each([
    ['a token that nobody gave out', () => token('a-token-that-nobody-gave-out')],
    ['another player’s userId', async () => asPlayer(await gateway.player())],
    [
      'another operator’s player',
      async () => asPlayer(await gateway.player({ operatorId: 'beta' })),
    ],
    ['a userId that nobody has', () => ({ userId: '"nobody"' })],
    ['another currency', () => ({ currency: '"EUR"' })],
  ])('is refused with code 3: %s (I8)', async (_, more) => {
    const bet = await unplacedBet(gateway);
    const answer = await bet.place(await more());
    expect([answer.status, answer.json?.code]).toEqual([400, 3]);
    expect(await stateOf(bet)).toBeUndefined();
    expect(bet.arrivals()).toEqual([]);
  });

  it('is refused with code 4 once the session has expired', async () => {
    const { player } = await placedBet(gateway);
    await expireSession(gateway, player.token);
    const late = await unplacedBet(gateway, { player });
    expect((await late.place()).json).toMatchObject({ code: 4 });
    expect(late.arrivals()).toEqual([]);
  });
});

describe('a place bet marked for a subPartnerId', () => {
  it.each([
    ['alpha', 'null', 200],
    ['alpha', '"anything"', 200],
    ['beta', 'null', 200],
    ['beta', undefined, 200],
    ['beta', '"beta-site"', 200],
    ['beta', '"alpha-site"', 400],
    ['beta', '""', 400],
  ])('of %s, as %s, is answered %i', async (operatorId, subPartnerId, status) => {
    const bet = await unplacedBet(gateway, { operatorId });
    const answer = await bet.place({ subPartnerId });
    expect(answer.status).toBe(status);
    expect(bet.arrivals()).toEqual(status === 200 ? ['place'] : []);
    if (status !== 200) expect(answer.json?.code).toBe(5);
  });
});

it('counts and times what it answers', async () => {
  const labels = { operator: 'alpha', operation: 'place', outcome: 'accepted' };
  const before = await gateway.metric('gateway_callbacks_total', labels);
  await placedBet(gateway);
  expect(await gateway.metric('gateway_callbacks_total', labels)).toBe(before + 1);
});
