import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { balanceBody } from '../../src/protocol/callback-bodies.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { expectNotSent } from '../support/not-sent.ts';
import { AT_ONCE_MS } from '../support/timing.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const breaker = { errorPercent: 50, minRequests: 4, windowMs: 60_000 };
  gateway = await startTestGateway({
    operators: {
      alpha: { wallet: { maxConcurrent: { money: 2, read: 1 } } },
      flapping: { wallet: { breaker: { ...breaker, openMs: 400 } } },
      broken: { wallet: { breaker: { ...breaker, openMs: 600_000 } } },
    },
  });
});
afterAll(() => gateway.close());

const rejected = (operator: string, reason: string) =>
  gateway.metric('gateway_rejected_total', { operator, reason });
const breaker = (operator: string, callClass: 'money' | 'read') =>
  gateway.metric('gateway_breaker_state', { operator, class: callClass });
const inFlight = (operator: string, callClass: 'money' | 'read') =>
  gateway.metric('gateway_in_flight', { operator, class: callClass });
const balanceOf = ({ player }: TestBet) =>
  gateway.service.call('POST', '/user/balance', balanceBody(player));

async function placeAnother(operatorId: string) {
  return await (await unplacedBet(gateway, { operatorId })).place();
}

/** Places whose connections are reset, one after another. */
async function fail(operatorId: string, count: number): Promise<void> {
  const behave = gateway.wallet(operatorId).misbehave('place', { kind: 'reset' });
  for (let n = 0; n < count; n += 1) await placeAnother(operatorId);
  behave();
}

/** @param state 0 closed, 1 half-open, 2 open */
const reaches = (operatorId: string, state: 0 | 1 | 2) =>
  expect.poll(() => breaker(operatorId, 'money')).toBe(state);

describe('the breaker of an operator’s money calls', () => {
  it('opens on faults, and then refuses places at once, unsent (I1)', async () => {
    await fail('broken', 4);
    expect(await breaker('broken', 'money')).toBe(2);
    const bet = await unplacedBet(gateway, { operatorId: 'broken' });
    await expectNotSent(bet, await bet.place());
    expect(await rejected('broken', 'breaker')).toBe(1);
  });

  it('leaves the operator’s reads and the other operators alone (I7)', async () => {
    expect([await breaker('broken', 'money'), await breaker('broken', 'read')]).toEqual([2, 0]);
    expect((await balanceOf(await unplacedBet(gateway, { operatorId: 'broken' }))).status).toBe(
      200,
    );
    expect(await breaker('alpha', 'money')).toBe(0);
    expect((await placeAnother('alpha')).status).toBe(200);
  });

  it('is not opened by declines, however many (I2)', async () => {
    for (let n = 0; n < 8; n += 1) {
      const bet = await unplacedBet(gateway, { operatorId: 'flapping', amount: '5000' });
      expect((await bet.place()).json).toMatchObject({ code: 7 });
    }
    expect(await breaker('flapping', 'money')).toBe(0);
  });

  it('closes again by itself once the wallet recovers', async () => {
    await fail('flapping', 8);
    await reaches('flapping', 1);
    expect((await placeAnother('flapping')).status).toBe(200);
    expect(await breaker('flapping', 'money')).toBe(0);
  });

  it('probes the wallet with one call at a time', async () => {
    await fail('flapping', 20);
    await reaches('flapping', 1);
    const gate = gateway.wallet('flapping').hold('place');
    onTestFinished(gate.release);
    const probing = placeAnother('flapping');
    await gate.arrived;
    const other = await unplacedBet(gateway, { operatorId: 'flapping' });
    await expectNotSent(other, await other.place());
    gate.release();
    expect((await probing).status).toBe(200);
    expect((await placeAnother('flapping')).status).toBe(200);
  });
});

describe('the bulkhead of an operator’s money calls', () => {
  it('refuses one call too many at once, unsent, and counts it (I1, I7)', async () => {
    const gate = gateway.wallet('alpha').hold('place');
    onTestFinished(gate.release);
    const placing = [placeAnother('alpha'), placeAnother('alpha')];
    await gate.arrivedTimes(2);
    expect(await inFlight('alpha', 'money')).toBe(2);
    const before = await rejected('alpha', 'bulkhead');
    const tooMany = await unplacedBet(gateway);
    await expectNotSent(tooMany, await tooMany.place());
    expect(await rejected('alpha', 'bulkhead')).toBe(before + 1);
    gate.release();
    expect((await Promise.all(placing)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await inFlight('alpha', 'money')).toBe(0);
    expect((await placeAnother('alpha')).status).toBe(200);
  });

  it('holds when all calls come at once: only this many reach the wallet (I7)', async () => {
    const bets = await Promise.all(Array.from({ length: 10 }, () => unplacedBet(gateway)));
    const gate = gateway.wallet('alpha').hold('place');
    onTestFinished(gate.release);
    const refused: (number | undefined)[] = [];
    const placing = bets.map(async (bet) => {
      const answer = await bet.place();
      if (gate.held > 0) refused.push(answer.status);
      return answer;
    });
    await expect.poll(() => refused).toEqual(Array.from({ length: 8 }, () => 400));
    expect(gate.held).toBe(2);
    gate.release();
    const answers = await Promise.all(placing);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(bets.flatMap((bet) => bet.arrivals())).toEqual(['place', 'place']);
  });

  it('is not spent by reads, nor reads by money (I7)', async () => {
    const bet = await unplacedBet(gateway);
    const reads = bet.wallet.hold('balance');
    onTestFinished(reads.release);
    const asking = balanceOf(bet);
    await reads.arrived;
    const refused = await balanceOf(bet);
    expect([refused.status, refused.json?.code]).toEqual([503, 100]);
    expect(refused.ms).toBeLessThan(AT_ONCE_MS);
    expect((await bet.place()).status).toBe(200);
    reads.release();
    expect((await asking).status).toBe(200);
  });
});

describe('an operator that hangs', () => {
  it('does not keep another’s bets waiting (I7)', async () => {
    await gateway.reconfigure('alpha', { wallet: { maxConcurrent: { money: 64, read: 64 } } });
    const wellOff = { operatorId: 'flapping' };
    const bets = await Promise.all(Array.from({ length: 8 }, () => unplacedBet(gateway, wellOff)));
    const stuckBets = await Promise.all(Array.from({ length: 64 }, () => unplacedBet(gateway)));
    const gate = gateway.wallet('alpha').hold('any');
    onTestFinished(gate.release);
    const stuck = stuckBets.map((bet) => bet.place());
    await gate.arrivedTimes(64);
    await Promise.all(
      bets.map(async (bet) => {
        const answers = [await bet.place(), await bet.rollback(), await balanceOf(bet)];
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      }),
    );
    // Still hanging: no call above can have waited for one of these.
    expect(gate.held).toBe(64);
    gate.release();
    await Promise.all(stuck);
  });
});
