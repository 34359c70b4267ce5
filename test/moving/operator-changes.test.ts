import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { WireAnswer } from '../../tools/simulator/wallet/answers.ts';
import type { WalletCall } from '../../tools/simulator/wallet/calls.ts';
import { type SimulatedWallet, startWallet } from '../../tools/simulator/wallet/wallet.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import { acceptedBet, untilDeliveriesAre } from '../money-safety/support/bets.ts';
import { PATIENT, QUICK } from '../money-safety/support/patience.ts';
import { BY } from '../support/audit.ts';
import { type TestPlayer, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
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
