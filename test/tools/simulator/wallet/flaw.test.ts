import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { placeBody, rollbackBody } from '../../../../src/protocol/callback-bodies.ts';
import { SignedClient } from '../../../../tools/simulator/signed-client.ts';
import { startWallet, type WalletOptions } from '../../../../tools/simulator/wallet/wallet.ts';

const SECRET = 'wallet-secret';
const TOKEN = 'ann-usd-token';

async function walletWith(options: Partial<WalletOptions>) {
  const players = [{ user: 'ann', balances: { USD: '100' }, tokens: { [TOKEN]: 'USD' } }];
  const wallet = await startWallet({ name: 'alpha', secret: SECRET, players, ...options });
  const client = new SignedClient({ baseUrl: wallet.baseUrl, secret: SECRET });
  onTestFinished(async () => {
    await client.close();
    await wallet.close();
  });
  return { wallet, client };
}

function slip() {
  const ids = { transactionId: randomUUID(), token: TOKEN, userId: 'ann', currency: 'USD' };
  return { ...ids, amount: '10', coefficient: '1.2', bonusId: null, bonusTemplateId: null };
}

describe('a flaw', () => {
  it('takes the place of the ledger where it answers, and leaves it the rest', async () => {
    const { wallet, client } = await walletWith({
      flaw: (call, books) => {
        if (call.operation !== 'place') return undefined;
        books.debit('ann', 'USD', '1');
        return books.book(call);
      },
    });
    const bet = slip();
    expect((await client.call('POST', '/payment/bet', placeBody(bet))).status).toBe(200);
    expect(wallet.balance('ann', 'USD')).toBe('89');
    expect((await client.call('PUT', '/payment/bet', rollbackBody(bet, 50))).status).toBe(200);
    expect(wallet.balance('ann', 'USD')).toBe('99');
  });
});

describe('the edge of a wallet', () => {
  it('judges signatures in its own way', async () => {
    const { wallet, client } = await walletWith({ judge: () => ({ ok: true }) });
    const unsigned = { signWith: null };
    const answer = await client.call('POST', '/payment/bet', placeBody(slip()), unsigned);
    expect([answer.status, wallet.balance('ann', 'USD')]).toEqual([200, '90']);
  });

  it('refuses in its own words', async () => {
    const { client } = await walletWith({
      rewriteRefused: (answer) => ({ ...answer, status: 401 }),
    });
    const unsigned = { signWith: null };
    const answer = await client.call('POST', '/payment/bet', placeBody(slip()), unsigned);
    expect(answer).toMatchObject({ status: 401, json: { code: 1 } });
  });
});
