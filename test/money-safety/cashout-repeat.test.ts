import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endLeases } from '../deliveries/support/deliveries.ts';
import { expireSession, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet, isConfirming, lose, settlesOf } from './support/bets.ts';
import { STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENCE, PATIENT } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    operators: { alpha: PATIENT },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const cashout = (bet: TestBet, amount = '30') => bet.settle(amount, 'cashout', bet.player.token);

async function revokeSession(bet: TestBet): Promise<void> {
  const operator = gateway.operator('alpha');
  expect((await operator.revokeSessions({ token: bet.player.token })).status).toBe(200);
  await operator.close();
}

const ends: readonly [string, (bet: TestBet) => Promise<void>][] = [
  ['was revoked', revokeSession],
  ['expired', (bet) => expireSession(gateway, bet.player.token)],
];

describe('rule 11: a cashout whose answer was lost, and whose session has ended since (I5)', {
  timeout: 60_000,
}, () => {
  it.each(ends)('is sent again with the token of the first: it %s', async (_, end) => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    const paid = { kind: 'reset', effect: 'applied' } as const;
    bet.wallet.misbehave('settle', paid, { transactionId, calls: 1 });
    expect((await cashout(bet)).status).toBe(503);
    await end(bet);
    expect((await cashout(bet)).status).toBe(200);
    expect(settlesOf(bet)).toEqual(['30', '30']);
    expect(JSON.parse(bet.lastRequest().body.toString())).toMatchObject({
      token: bet.player.operatorToken,
    });
    expect(bet.balance()).toBe('930');
  });

  it('even if its process was killed while it was under way', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    const gate = bet.wallet.hold('settle', { transactionId, point: 'after' });
    const first = cashout(bet);
    await gate.arrived;
    await revokeSession(bet);
    await endLeases(gateway, transactionId);
    const repeat = await cashout(bet);
    gate.release();
    await first;
    expect([200, 503]).toContain(repeat.status);
    await expect.poll(async () => (await cashout(bet)).status, PATIENCE).toBe(200);
    expect(bet.balance()).toBe('930');
  });

  it('is not refused by a wallet that checks the token first: that says nothing about the first attempt (I2)', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    const paid = { kind: 'reset', effect: 'applied' } as const;
    bet.wallet.misbehave('settle', paid, { transactionId, calls: 1 });
    expect((await cashout(bet)).status).toBe(503);
    // By now its own session has ended as well.
    bet.wallet.misbehave('settle', { kind: 'code', code: 4 }, { transactionId, calls: 1 });
    expect((await cashout(bet)).status).toBe(503);
    expect((await cashout(bet)).status).toBe(200);
    expect(bet.balance()).toBe('930');
  });
});

describe('rule 11: a cashout whose repeat was accepted', { timeout: 60_000 }, () => {
  it.each([
    ['bears no token', async () => undefined],
    ['bears a stranger’s token', async () => (await gateway.player()).token],
  ])('is confirmed with the token of the first also where it %s (I5)', async (_, tokenOf) => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    // One that stays unanswered until the cashout has been paid.
    lose(bet, 'settle');
    expect((await bet.settle('10')).status).toBe(503);
    const paid = { kind: 'reset', effect: 'applied' } as const;
    bet.wallet.misbehave('settle', paid, { transactionId, calls: 1 });
    expect((await cashout(bet)).status).toBe(503);
    await revokeSession(bet);
    expect((await bet.settle('30', 'cashout', await tokenOf())).status).toBe(200);
    bet.wallet.applyLate(transactionId);
    expect(bet.balance()).toBe('910');
    await isConfirming(bet);
    expect(JSON.parse(bet.lastRequest().body.toString()).token).toBe(bet.player.operatorToken);
    await expect.poll(() => bet.balance(), PATIENCE).toBe('930');
  });
});

describe('rule 11: a cashout whose session ends while its copies are on their way (I5)', {
  timeout: 60_000,
}, () => {
  const starting = startHeldGateway({
    operators: { alpha: PATIENT },
  });
  afterAll(async () => (await starting).close());

  it('a refusal that was answered stands: the copy that had found the token alive is refused too', async () => {
    const { gateway: held, postgres } = await starting;
    const bet = await acceptedBet(held);
    const commit = postgres.holdRequest(STATEMENTS.commit, bet.transactionId);
    const first = cashout(bet);
    await commit.stopped;
    const operator = held.operator('alpha');
    expect((await operator.revokeSessions({ token: bet.player.token })).status).toBe(200);
    await operator.close();
    expect((await cashout(bet)).json).toMatchObject({ code: 3 });
    commit.release();
    expect((await first).json).toMatchObject({ code: 3 });
    expect(bet.arrivals()).toEqual(['place']);
  });
});
