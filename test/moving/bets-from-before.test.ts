import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { placeBody, settleBody } from '../../src/protocol/callback-bodies.ts';
import { BooksChecks } from '../../src/store/books/checks.ts';
import { SignedClient } from '../../tools/simulator/signed-client.ts';
import { startWallet } from '../../tools/simulator/wallet/wallet.ts';
import { csvOf, kindsOf, listOf, reconcile } from '../books/reconciliation/support/lists.ts';
import { bookAll, rowsOf } from '../books/support/kept-books.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betFromBefore } from './support/moved-bet.ts';
import { OldGateway, openHere } from './support/old-gateway.ts';

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

  it('is corrected, undone or rolled back over a result from before', async () => {
    const [corrected, undone, cancelled] = [
      await fromBefore(),
      await fromBefore(),
      await fromBefore(),
    ];
    for (const bet of [corrected, undone, cancelled]) await bet.before.settle('20');
    expect([(await corrected.settle('50')).status, corrected.balance()]).toEqual([200, '950']);
    expect([(await undone.unsettle()).status, undone.balance()]).toEqual([200, '900']);
    expect([(await cancelled.rollback()).status, cancelled.balance()]).toEqual([200, '1000']);
  });

  it('is not settled over a rollback from before: its wallet refuses it', async () => {
    const bet = await fromBefore();
    await bet.before.rollback();
    expect((await bet.settle('20')).json).toMatchObject({ code: 5 });
    expect(bet.balance()).toBe('1000');
  });

  it('is cashed out with a session of this gateway, and with none of before', async () => {
    const bet = await fromBefore();
    expect((await bet.settle('70', 'cashout', bet.slip.token)).json).toMatchObject({ code: 3 });
    const { token, operatorToken } = await openHere(gateway, bet.player);
    expect((await bet.settle('70', 'cashout', token)).status).toBe(200);
    expect([bet.last().token, bet.balance()]).toEqual([operatorToken, '970']);
  });

  it('is not placed again by a copy: with its old token not at all, else once (I5)', async () => {
    const bet = await fromBefore();
    expect((await bet.place()).json).toMatchObject({ code: 3 });
    const { token } = await openHere(gateway, bet.player);
    expect((await bet.place({ token: JSON.stringify(token) })).status).toBe(200);
    expect(bet.balance()).toBe('900');
  });

  it('has no token for a wallet that wants one with every call: refused there, it stays open', async () => {
    const bet = await fromBefore('beta');
    bet.wallet.misbehave('settle', { kind: 'code', code: 3 }, { calls: 1 });
    await openHere(gateway, bet.player);
    expect((await bet.settle('20')).status).toBe(503);
    expect(bet.last()).not.toHaveProperty('token');
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

describe('a wallet that pays a result again where it comes under a new requestId', () => {
  it('pays one that it took before once more when it is repeated here', async () => {
    const wallet = await startWallet({
      name: 'gamma',
      secret: 'gamma-wallet-secret',
      flaw: (call, books) => {
        const verdict = books.book(call);
        const isRepeat = verdict.kind === 'accepted' && verdict.effect === 'repeated';
        if (call.operation === 'settle' && isRepeat) {
          books.credit(call.userId, 'USD', call.amount);
        }
        return verdict;
      },
    });
    onTestFinished(() => wallet.close());
    const player = old.addPlayer('gamma');
    wallet.addPlayer({ user: player.user, balances: { USD: '1000' }, tokens: { own: 'USD' } });
    const dialect = { stableRequestId: true };
    await gateway.reconfigure('gamma', { wallet: { baseUrl: wallet.baseUrl, dialect } });
    const bet = await betFromBefore(gateway, old, { operatorId: 'gamma', player });
    const theirs = { ...bet.slip, userId: player.user, token: 'own' };
    const client = new SignedClient({ baseUrl: wallet.baseUrl, secret: 'gamma-wallet-secret' });
    onTestFinished(() => client.close());
    await client.call('POST', '/payment/bet', placeBody(theirs));
    const won = settleBody(theirs, { amount: '20', resultType: 'won', token: undefined });
    expect((await client.call('PUT', '/payment/bet', won)).status).toBe(200);
    expect((await bet.settle('20')).status).toBe(200);
    expect(wallet.balance(player.user, 'USD')).toBe('940');
  });
});

describe('the books of the days of the move', () => {
  it('have the results of such bets only, and none that was taken back of before (I12)', async () => {
    const own = await startTestGateway();
    const before = new OldGateway(own);
    try {
      const [first, corrected, undone, cancelled] = [
        await betFromBefore(own, before),
        await betFromBefore(own, before),
        await betFromBefore(own, before),
        await betFromBefore(own, before),
      ];
      await first.settle('20');
      await corrected.before.settle('20');
      await corrected.settle('50');
      await undone.before.settle('20');
      await undone.unsettle();
      await cancelled.rollback();
      await bookAll(own);
      expect(
        await rowsOf(
          own,
          'SELECT bets, stakes, payouts, payout_reversals, stake_returns FROM books_days',
        ),
      ).toEqual([
        { bets: '0', stakes: '0', payouts: '70', payout_reversals: '0', stake_returns: '0' },
      ]);
      const checks = new BooksChecks(own.parts.database);
      await checks.checkBets();
      expect(await checks.violations()).toEqual([]);
    } finally {
      await before.close();
      await own.close();
    }
  });
});

describe('a reconciliation of the days of the move', () => {
  it('lacks what has not come here yet, and says so of what came here without its place', async () => {
    const own = await startTestGateway();
    const before = new OldGateway(own);
    try {
      const [untouched, updated, settled, cancelled] = [
        await betFromBefore(own, before),
        await betFromBefore(own, before),
        await betFromBefore(own, before),
        await betFromBefore(own, before),
      ];
      await updated.update('1.5');
      await settled.settle('20');
      await cancelled.rollback();
      const { told } = await reconcile(own, csvOf(listOf(settled.wallet)));
      expect(kindsOf(told)).toEqual([
        `missing_here ${untouched.transactionId}`,
        `state_differs ${updated.transactionId}`,
      ]);
      const [differs] = told?.differences.filter(({ kind }) => kind === 'state_differs') ?? [];
      expect(differs).toMatchObject({
        here: { state: 'unseen' },
        reason: 'its place did not come this way, only what came later',
      });
    } finally {
      await before.close();
      await own.close();
    }
  });
});

describe('who is called in the night of the move', () => {
  it('nobody, for callbacks of earlier bets whose players are imported', async () => {
    const own = await startTestGateway();
    const before = new OldGateway(own);
    try {
      const bet = await betFromBefore(own, before);
      await bet.before.settle('20');
      await bet.update('1.5');
      await bet.settle('50');
      await bet.unsettle();
      await bet.rollback();
      for (const name of ['gateway_conflicts_total', 'gateway_unknown_outcomes_total']) {
        expect(await own.metric(name)).toBe(0);
      }
      expect(await own.metric('gateway_callbacks_total', { operator: 'unknown' })).toBe(0);
      expect(await sql(own, "SELECT FROM deliveries WHERE state <> 'delivered'")).toEqual([]);
    } finally {
      await before.close();
      await own.close();
    }
  });
});
