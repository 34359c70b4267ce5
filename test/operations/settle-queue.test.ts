import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { expireSession, placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { delivery: { minBackoffMs: 60_000 } },
    operators: {
      alpha: { settle: { onFailure: 'queue' }, wallet: { breaker: { minRequests: 100_000 } } },
    },
  });
});
afterAll(() => gateway.close());

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const pending = (operation: string) => ({ operation, state: 'pending' });
const superseded = (operation: string) => ({ operation, state: 'superseded' });

function expectTakenOver(bet: TestBet, answer: Awaited<ReturnType<TestBet['settle']>>): void {
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual({
    transactionId: bet.transactionId,
    transactionTime: expect.stringMatching(ISO_TIME),
  });
}

describe('with settle.onFailure: queue, a first settle that could not be delivered', () => {
  const failures: readonly Misbehaviour[] = [
    { kind: 'status', status: 500 },
    { kind: 'reset' },
    { kind: 'code', code: 1 },
    { kind: 'code', code: 3 },
    { kind: 'code', code: 4 },
    { kind: 'code', code: 100 },
  ];

  it.each(failures)('is committed as a delivery and answered 200: %o (I3)', async (how) => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('settle', how, { transactionId: bet.transactionId });
    expectTakenOver(bet, await bet.settle('10'));
    expect(await bet.deliveries()).toMatchObject([pending('settle')]);
    expect(bet.arrivals().slice(0, 2)).toEqual(['place', 'settle']);
  });

  it('is passed on when the wallet refused it: a refusal is an answer', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { calls: 1 });
    expect((await bet.settle('10')).json?.code).toBe(20);
    expect(await bet.deliveries()).toEqual([]);
  });

  it('does not become a delivery if it is a cashout: the player waits for the answer', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('settle', { kind: 'status', status: 500 }, { calls: 1 });
    const answer = await bet.settle('10', 'cashout', bet.player.token);
    expect([answer.status, answer.json?.code]).toEqual([503, 100]);
    expect(await bet.deliveries()).toEqual([]);
  });

  it('becomes a delivery only as the first: the wallet may refuse another result', async () => {
    const bet = await placedBet(gateway);
    await bet.settle('10');
    bet.wallet.misbehave('settle', { kind: 'status', status: 500 }, { calls: 1 });
    expect((await bet.settle('20')).status).toBe(503);
    expect(await bet.deliveries()).toEqual([]);
  });

  it('does not become a delivery as an unsettle', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('unsettle', { kind: 'status', status: 500 }, { calls: 1 });
    expect((await bet.unsettle()).status).toBe(503);
    expect(await bet.deliveries()).toEqual([]);
  });
});

describe('while a settle is pending that was never attempted', () => {
  const states = {
    maintenance: {
      on: () => gateway.reconfigure('alpha', { status: 'maintenance' }),
      off: () => gateway.reconfigure('alpha', {}),
    },
    'an open breaker': {
      on: async () => gateway.parts.wallets.setOverride('alpha', 'money', 'open'),
      off: async () => gateway.parts.wallets.setOverride('alpha', 'money', 'auto'),
    },
  };

  describe.each(Object.entries(states))('because of %s', (_, state) => {
    let bet: TestBet;
    let first: Awaited<ReturnType<TestBet['settle']>>;
    beforeEach(async () => {
      bet = await placedBet(gateway);
      await state.on();
      first = await bet.settle('10');
    });
    afterEach(async () => {
      expect(bet.arrivals()).toEqual(['place']);
      await state.off();
    });

    it('it has been answered 200 and is in the journal', async () => {
      expectTakenOver(bet, first);
      expect(await bet.deliveries()).toEqual([{ ...pending('settle'), attempts: 0 }]);
    });

    it('the same settle is answered as before and promises nothing more (I5)', async () => {
      expect((await bet.settle('10.0')).body).toBe(first.body);
      expect(await bet.deliveries()).toMatchObject([pending('settle')]);
    });

    it('another settle replaces it', async () => {
      expectTakenOver(bet, await bet.settle('20'));
      expect(await bet.deliveries()).toMatchObject([superseded('settle'), pending('settle')]);
    });

    it('an unsettle cancels it, is answered 200, and is one with its repeat', async () => {
      const answer = await bet.unsettle();
      expectTakenOver(bet, answer);
      expect(await bet.deliveries()).toMatchObject([superseded('settle')]);
      expect((await bet.unsettle()).body).toBe(answer.body);
    });

    it('a rollback cancels it and is promised itself', async () => {
      expectTakenOver(bet, await bet.rollback());
      expect(await bet.deliveries()).toMatchObject([superseded('settle'), pending('rollback')]);
    });

    it('a cashout does not become a delivery', async () => {
      const answer = await bet.settle('30', 'cashout', bet.player.token);
      expect([answer.status, answer.json?.code]).toEqual([503, 100]);
      expect(await bet.deliveries()).toMatchObject([pending('settle')]);
    });

    it('a cashout without a live token is refused as usual', async () => {
      expect((await bet.settle('30', 'cashout')).json?.code).toBe(3);
      await expireSession(gateway, bet.player.token);
      expect((await bet.settle('30', 'cashout', bet.player.token)).json?.code).toBe(4);
      expect(await bet.deliveries()).toMatchObject([pending('settle')]);
    });

    it('an update is not held up (I6)', async () => {
      expectTakenOver(bet, await bet.update('1.5'));
      expect(await bet.deliveries()).toMatchObject([pending('settle'), pending('update')]);
    });
  });
});

describe('while a settle is pending that was attempted', () => {
  let bet: TestBet;
  let behaveAgain: () => void;
  beforeEach(async () => {
    bet = await placedBet(gateway);
    const failing = { transactionId: bet.transactionId };
    behaveAgain = bet.wallet.misbehave('settle', { kind: 'status', status: 500 }, failing);
    expectTakenOver(bet, await bet.settle('10'));
  });
  afterEach(() => {
    // Whatever the later operation was, nothing overtook the one that a wallet may have seen.
    expect(new Set(bet.arrivals())).toEqual(new Set(['place', 'settle']));
    behaveAgain();
  });

  it('the same settle is answered 200 and promises nothing more (I5)', async () => {
    expectTakenOver(bet, await bet.settle('10'));
    expect(await bet.deliveries()).toMatchObject([pending('settle')]);
  });

  it.each([
    ['another settle', 'settle', () => bet.settle('20')],
    ['an unsettle', 'unsettle', () => bet.unsettle()],
    ['a rollback', 'rollback', () => bet.rollback()],
  ])('%s queues behind it and is answered 200 (I6)', async (_, operation, send) => {
    const answer = await send();
    expectTakenOver(bet, answer);
    expect(await bet.deliveries()).toMatchObject([pending('settle'), pending(operation)]);
    expect((await send()).body).toBe(answer.body);
    expect(await bet.deliveries()).toHaveLength(2);
  });

  it('a cashout does not become a delivery', async () => {
    const answer = await bet.settle('30', 'cashout', bet.player.token);
    expect([answer.status, answer.json?.code]).toEqual([503, 100]);
    expect(await bet.deliveries()).toMatchObject([pending('settle')]);
  });
});
