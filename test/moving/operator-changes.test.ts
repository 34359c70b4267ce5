import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { WireAnswer } from '../../tools/simulator/wallet/answers.ts';
import type { WalletCall } from '../../tools/simulator/wallet/calls.ts';
import { type SimulatedWallet, startWallet } from '../../tools/simulator/wallet/wallet.ts';
import { csvOf, kindsOf, listOf, reconcile } from '../books/reconciliation/support/lists.ts';
import { bookAll, rowsOf } from '../books/support/kept-books.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import { acceptedBet, untilDeliveriesAre } from '../money-safety/support/bets.ts';
import { PATIENT, QUICK } from '../money-safety/support/patience.ts';
import { BY } from '../support/audit.ts';
import { type TestBet, type TestPlayer, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import { betFromBefore } from './support/moved-bet.ts';
import { OldGateway } from './support/old-gateway.ts';

const IDS = ['leaves', 'currency', 'sandbox', 'fresh', 'dialect', 'before', 'secret', 'cents'];

let gateway: TestGateway;
beforeAll(async () => {
  const operators = Object.fromEntries(IDS.map((id) => [id, PATIENT]));
  gateway = await startTestGateway({ worker: true, gateway: QUICK, operators });
});
afterAll(() => gateway.close());

/** Another wallet with the same secret. */
async function anotherWallet(
  operatorId: string,
  rewrite?: (answer: WireAnswer, call: WalletCall) => WireAnswer,
): Promise<SimulatedWallet> {
  const secret = `${operatorId}-wallet-secret`;
  const wallet = await startWallet({ name: operatorId, secret, ...(rewrite && { rewrite }) });
  onTestFinished(() => wallet.close());
  return wallet;
}

const addTo = (wallet: SimulatedWallet, { user, operatorToken }: TestPlayer, balance = '1000') =>
  wallet.addPlayer({ user, balances: { USD: balance }, tokens: { [operatorToken]: 'USD' } });

const release = (operatorId: string) =>
  asPerson(gateway, (admin) => admin.release(operatorId, { upTo: 2, to: 2 }, BY));

const sumsOf = (operatorId: string) =>
  rowsOf(
    gateway,
    `SELECT bets, stakes - stake_returns AS stakes, payouts - payout_reversals AS payouts, open_bets
       FROM books_days WHERE operator_id = $1`,
    [operatorId],
  );

describe('an operator that leaves with open bets and comes back', { timeout: 60_000 }, () => {
  it('finds its bets open and what was promised still promised (I4)', async () => {
    const [open, owed] = [
      await acceptedBet(gateway, { operatorId: 'leaves' }),
      await acceptedBet(gateway, { operatorId: 'leaves' }),
    ];
    await rm(join(gateway.configFolder, 'operators', 'leaves.yaml'));
    await gateway.reload();
    expect((await open.settle('20')).status).toBe(503);
    expect((await owed.rollback()).status).toBe(200);
    expect((await gateway.service.profile(open.player.token)).status).toBe(503);
    // Its horizon would be over, had it not stood still: workers count that time, at most ten seconds per look.
    await vi.waitFor(async () => {
      const [row] = await sql(gateway, `SELECT held_ms > 0 AS held FROM operator_holds`);
      expect(row).toEqual({ held: true });
    }, 20_000);
    expect([open.arrivals(), owed.arrivals()]).toEqual([['place'], ['place']]);

    await gateway.reconfigure('leaves', {});
    await untilDeliveriesAre(owed, [{ operation: 'rollback', state: 'delivered' }]);
    expect(owed.balance()).toBe('1000');
    expect((await open.settle('20')).status).toBe(200);
    expect(open.balance()).toBe('920');
  });
});

describe('a currency that is taken out of an operator’s file', () => {
  it('ends no session and closes no bet: nothing new is opened in it', async () => {
    const player = await gateway.player({ operatorId: 'currency', currency: 'EUR' });
    const bet = await acceptedBet(gateway, { operatorId: 'currency', player });
    await gateway.reconfigure('currency', { currencies: ['USD'] });
    expect((await bet.settle('20')).status).toBe(200);
    const later = await acceptedBet(gateway, { operatorId: 'currency', player });
    expect((await later.rollback()).status).toBe(200);
    expect(bet.balance()).toBe('920');
    const { user: operatorUser, operatorToken } = player;
    const again = await gateway
      .operator('currency')
      .openSession({ operatorUser, currency: 'EUR', operatorToken });
    expect(again.json).toMatchObject({ code: 5, message: 'currency: must be one of USD' });
  });
});

describe('an operator that went live with its sandbox’s address', { timeout: 60_000 }, () => {
  it('is put right: held, voided by the service, released; no real money moves (I5, I12)', async () => {
    const bets: TestBet[] = [];
    for (let at = 0; at < 4; at += 1) {
      bets.push(await acceptedBet(gateway, { operatorId: 'sandbox' }));
    }
    const [open, lost, won, other] = bets;
    expect((await lost?.settle('0', 'lost'))?.status).toBe(200);
    expect((await won?.settle('50'))?.status).toBe(200);
    const real = await anotherWallet('sandbox');
    for (const { player } of bets) addTo(real, player);
    await gateway.reconfigure('sandbox', { wallet: { baseUrl: real.baseUrl, generation: 2 } });
    // The real wallet is not asked about bets of the sandbox; its own are placed as usual.
    expect((await open?.settle('20'))?.status).toBe(503);
    const player = open?.player;
    const fine = await unplacedBet(gateway, { operatorId: 'sandbox', ...(player && { player }) });
    expect((await fine.place()).status).toBe(200);
    for (const bet of bets) expect((await bet.rollback()).status).toBe(200);
    expect(real.arrivals(other?.transactionId ?? '')).toEqual([]);
    await release('sandbox');
    for (const bet of bets) await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    expect(bets.map(({ player: { user } }) => real.balance(user, 'USD'))).toEqual([
      ...['900', '1000', '1000', '1000'],
    ]);
    await bookAll(gateway);
    expect(await sumsOf('sandbox')).toEqual([
      { bets: '5', stakes: '100', payouts: '0', open_bets: '1' },
    ]);
  });
});

describe('a wallet of another vendor, with books that begin empty', { timeout: 60_000 }, () => {
  it('is asked about the open bets once they are in its books and released', async () => {
    const [open, owed] = [
      await acceptedBet(gateway, { operatorId: 'fresh' }),
      await acceptedBet(gateway, { operatorId: 'fresh' }),
    ];
    const vendor = await anotherWallet('fresh');
    for (const { player } of [open, owed]) addTo(vendor, player);
    await gateway.reconfigure('fresh', { wallet: { baseUrl: vendor.baseUrl, generation: 2 } });
    expect((await open.settle('20')).status).toBe(503);
    expect((await owed.rollback()).status).toBe(200);
    await untilDeliveriesAre(owed, [{ state: 'pending', attempts: 0, held: true }]);
    // The operator enters the bets that were open at the old wallet: here as the place that its ledger would have
    // seen.
    const old = new OldGateway(gateway);
    onTestFinished(() => old.close());
    for (const { slip, player } of [open, owed]) {
      await old.enterAt(vendor, 'fresh', {
        ...slip,
        userId: player.user,
        token: player.operatorToken,
      });
    }
    await release('fresh');
    await untilDeliveriesAre(owed, [{ state: 'delivered' }]);
    expect((await open.settle('20')).status).toBe(200);
    expect([open, owed].map(({ player: { user } }) => vendor.balance(user, 'USD'))).toEqual([
      ...['920', '1000'],
    ]);
  });

  it('is asked about earlier bets at once: nobody knows whose books they are in', async () => {
    const old = new OldGateway(gateway);
    onTestFinished(() => old.close());
    const bet = await betFromBefore(gateway, old, { operatorId: 'before' });
    const vendor = await anotherWallet('before');
    await gateway.reconfigure('before', { wallet: { baseUrl: vendor.baseUrl, generation: 2 } });
    expect((await bet.rollback()).status).toBe(200);
    expect(vendor.arrivals(bet.transactionId)).toMatchObject([{ result: 'nothing' }]);
    expect(bet.balance()).toBe('900');
  });
});

describe('an operator with the wrong wallet secret', { timeout: 60_000 }, () => {
  it('has no bet debited, and is brought its rollbacks once the secret is right (I4)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'secret' });
    const { wallet, player } = bet;
    wallet.setSecrets(['another-secret-of-that-wallet']);
    const refused = await unplacedBet(gateway, { operatorId: 'secret', player });
    expect((await refused.place()).json).toMatchObject({ code: 1 });
    expect((await bet.settle('20')).status).toBe(503);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.balance()).toBe('900');
    const secrets = ['another-secret-of-that-wallet'];
    await gateway.reconfigure('secret', { wallet: { secrets } });
    await untilDeliveriesAre(bet, [{ operation: 'rollback', state: 'delivered' }]);
    expect(bet.balance()).toBe('1000');
  });
});

describe('a wallet that counts in the smallest unit', () => {
  it('is sent amounts as the service wrote them: its list differs over every bet', async () => {
    const bets = [
      await acceptedBet(gateway, { operatorId: 'cents', amount: '12.10' }),
      await acceptedBet(gateway, { operatorId: 'cents', amount: '5' }),
    ];
    expect(JSON.parse(String(bets[0]?.lastRequest().body)).amount).toBe(12.1);
    const inCents = listOf(gateway.wallet('cents')).map((bet) => ({
      ...bet,
      stake: String(Number(bet.stake) * 100),
    }));
    const { told } = await reconcile(gateway, csvOf(inCents), { operator: 'cents' });
    expect(told?.counts).toMatchObject({ amount_differs: 2 });
  });
});

describe('a wallet whose refusals were taken for successes, without a certification', {
  timeout: 60_000,
}, () => {
  it('has its bets found by a reconciliation, and voided once its dialect is right (I12)', async () => {
    // It refuses with HTTP 200 and echoes the bet, so only the code tells.
    const wallet = await anotherWallet('dialect', ({ status, body }, call) => {
      if (status !== 400 || !('transactionId' in call)) return { status, body };
      return { status: 200, body: JSON.stringify({ ...JSON.parse(body), ...echoOf(call) }) };
    });
    // Somebody has listed its codes 5 (no such bet) and 7 (no money) as good ones.
    const wrong = { okCodes: [0, 5, 7] };
    await gateway.reconfigure('dialect', { wallet: { baseUrl: wallet.baseUrl, dialect: wrong } });
    const player = await gateway.player({ operatorId: 'dialect' });
    addTo(wallet, player, '100');
    const bets = await Promise.all(
      [1, 2, 3].map(() => unplacedBet(gateway, { operatorId: 'dialect', player })),
    );
    // There is money for one of them; the service believes in three.
    for (const bet of bets) expect((await bet.place()).status).toBe(200);
    expect(wallet.balance(player.user, 'USD')).toBe('0');
    const [held, won, open] = bets;
    expect((await won?.settle('50'))?.status).toBe(200);
    const { told } = await reconcile(gateway, csvOf(listOf(wallet)), { operator: 'dialect' });
    const never = [won, open].map((bet) => `missing_there ${bet?.transactionId}`);
    expect(kindsOf(told)).toEqual(never.sort());

    const right = { okCodes: [0] };
    await gateway.reconfigure('dialect', { wallet: { baseUrl: wallet.baseUrl, dialect: right } });
    for (const bet of [won, open]) expect((await bet?.rollback())?.status).toBe(200);
    expect((await held?.settle('30'))?.status).toBe(200);
    expect(wallet.balance(player.user, 'USD')).toBe('30');
    expect((await reconcile(gateway, csvOf(listOf(wallet)), { operator: 'dialect' })).code).toBe(0);
    await bookAll(gateway);
    expect(await sumsOf('dialect')).toEqual([
      { bets: '3', stakes: '100', payouts: '30', open_bets: '0' },
    ]);
  });
});

const echoOf = ({ transactionId }: { readonly transactionId: string }) => ({ transactionId });
