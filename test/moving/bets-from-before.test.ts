import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betFromBefore } from './support/moved-bet.ts';
import { OldGateway } from './support/old-gateway.ts';

let gateway: TestGateway;
let old: OldGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    operators: { alpha: {}, beta: { wallet: { dialect: { alwaysSendToken: true } } }, gamma: {} },
  });
  old = new OldGateway(gateway);
});
afterAll(async () => {
  await old.close();
  await gateway.close();
});

const fromBefore = (operatorId = 'alpha') => betFromBefore(gateway, old, { operatorId });

describe('a bet that was placed before the move', () => {
  it('is known to its wallet by the same ids, and carries no token (I9)', async () => {
    const bet = await fromBefore();
    for (const callback of ['settle', 'unsettle', 'rollback', 'update'] as const) {
      expect((await bet[callback]('1.5' as never)).status).toBe(200);
      const { transactionId, userId, requestId, token } = bet.last();
      expect([transactionId, userId, token]).toEqual([
        ...[bet.transactionId, bet.player.user, undefined],
      ]);
      // The service's own id of that call.
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('is settled, corrected, undone and settled again, each once (I5)', async () => {
    const bet = await fromBefore();
    expect((await bet.update('1.5')).status).toBe(200);
    for (const [amount, balance] of [
      ['20', '920'],
      ['20', '920'],
      ['50', '950'],
    ] as const) {
      expect((await bet.settle(amount)).status).toBe(200);
      expect(bet.balance()).toBe(balance);
    }
    expect([(await bet.unsettle()).status, bet.balance()]).toEqual([200, '900']);
    expect([(await bet.settle('30')).status, bet.balance()]).toEqual([200, '930']);
    expect([(await bet.rollback()).status, bet.balance()]).toEqual([200, '1000']);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual([
      ...['place', 'update', 'settle', 'settle', 'unsettle', 'settle', 'rollback'],
    ]);
  });

  it.each([
    ['settle', '920'],
    ['unsettle', '900'],
    ['rollback', '1000'],
    ['update', '900'],
  ] as const)(
    'takes a repeated %s that its wallet took before, once (I5)',
    async (what, balance) => {
      const bet = await fromBefore();
      if (what === 'unsettle') await bet.before.settle('20');
      expect((await bet.before[what]('20' as never)).status).toBe(200);
      expect([(await bet[what]('20' as never)).status, bet.balance()]).toEqual([200, balance]);
      // The second time here it is answered from the journal.
      const calls = bet.arrivals().length;
      expect((await bet[what]('20' as never)).status).toBe(200);
      expect(bet.arrivals()).toHaveLength(calls);
    },
  );

  it('is not settled over a rollback from before: its wallet refuses it', async () => {
    const bet = await fromBefore();
    await bet.before.rollback();
    expect((await bet.settle('20')).json).toMatchObject({ code: 5 });
    expect(bet.balance()).toBe('1000');
  });
});

describe('a wallet whose refusals confirm a rollback (rollbackConfirmedBy)', () => {
  it('is believed, even about an earlier result that is unknown here', async () => {
    const dialect = { rollbackConfirmedBy: [5] };
    await gateway.reconfigure('alpha', { wallet: { dialect } });
    const bet = await fromBefore();
    await bet.before.settle('20');
    // It means "already settled", and not "no such bet".
    bet.wallet.misbehave('rollback', { kind: 'code', code: 5 }, { calls: 1 });
    expect((await bet.rollback()).json).toMatchObject({ code: 8 });
    expect(bet.balance()).toBe('920');
    await gateway.reconfigure('alpha', {});
  });
});
