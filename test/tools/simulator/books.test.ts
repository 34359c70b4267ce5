import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareBooks } from '../../../tools/simulator/books.ts';
import { betsTable, playersTable } from '../../../tools/simulator/books-table.ts';
import { createService, type SimulatedService } from '../../../tools/simulator/service.ts';
import type { ServiceBooks } from '../../../tools/simulator/service-books.ts';
import {
  type SimulatedWallet,
  startWallet,
  type WalletBooks,
} from '../../../tools/simulator/wallet/wallet.ts';

const SECRET = 'shared-secret';
const ann = { token: 'ann-usd-token', userId: 'ann', currency: 'USD' };

let wallet: SimulatedWallet;
let service: SimulatedService;

beforeEach(async () => {
  wallet = await startWallet({
    name: 'alpha',
    secret: SECRET,
    players: [
      { user: 'ann', balances: { USD: '100', EUR: '7' }, tokens: { [ann.token]: 'USD' } },
      { user: 'bob', balances: { USD: '1' } },
    ],
  });
  const { baseUrl } = wallet;
  service = createService({ baseUrl, secret: SECRET, timeoutMs: 10_000, retryScale: 0 });
});

afterEach(async () => {
  await service.close();
  await wallet.close();
});

const compare = (more: readonly WalletBooks[] = []) =>
  compareBooks(service.books(), [wallet.books(), ...more]);
const place = async (amount: string) => (await service.place({ ...ann, amount })).transactionId;

describe('books that agree', () => {
  it('agree in every state a bet can have', async () => {
    await place('10');
    await place('1000');
    await service.settle(await place('5.5'), { amount: '11', resultType: 'won' });
    await service.rollback(await place('20'));
    await service.rollback(service.slip({ ...ann, amount: '3' }).transactionId);
    wallet.deposit('ann', 'USD', '50');
    const comparison = compare();
    expect(comparison.differences).toEqual([]);
    expect(playersTable(comparison)).toBe(
      [
        'wallet  player  currency  wallet holds  wallet moved  service believes',
        '------  ------  --------  ------------  ------------  ----------------  ------',
        'alpha   ann     USD              145.5          -4.5              -4.5  agrees',
        'alpha   ann     EUR                  7             0                 0  agrees',
        'alpha   bob     USD                  1             0                 0  agrees',
      ].join('\n'),
    );
  });
});

describe('books that differ', () => {
  it('shows a debit that the service knows nothing of', async () => {
    wallet.misbehave('place', { kind: 'code', code: 9, effect: 'applied' });
    const transactionId = await place('10');
    const { differences } = compare();
    expect(differences).toEqual([
      `bet ${transactionId}: service: declined 0; alpha: waiting -10`,
      'player alpha/ann USD: service believes 0, wallet moved -10',
    ]);
    const row = betsTable(compare()).split('\n').at(-1)?.replaceAll(/ +/g, ' ');
    expect(row).toBe(`${transactionId} alpha USD waiting -10 declined 0 DIFFERS`);
  });

  it('shows a bet that no wallet knows', async () => {
    wallet.misbehave('place', { kind: 'delay', ms: 0, effect: 'none' });
    const transactionId = await place('10');
    expect(compare().differences).toEqual([
      `bet ${transactionId}: service: accepted -10; no wallet knows it`,
      'player ann USD: service believes -10, wallet moved 0',
    ]);
  });

  it('shows a bet of equal money but another state', async () => {
    const transactionId = await place('10');
    wallet.misbehave('settle', { kind: 'delay', ms: 0, effect: 'none' });
    await service.settle(transactionId, { amount: '0', resultType: 'lost' });
    expect(compare().differences).toEqual([
      `bet ${transactionId}: service: settled -10; alpha: waiting -10`,
    ]);
  });

  it('shows what is in doubt', async () => {
    const transactionId = await place('10');
    wallet.misbehave('rollback', { kind: 'code', code: 5, effect: 'applied' });
    await service.rollback(transactionId);
    expect(compare().differences).toEqual([
      `bet ${transactionId}: the service has no definite answer to its rollback`,
    ]);
  });

  it('shows a bet that reached two wallets, and players that got mixed up (I8)', async () => {
    const first = await place('10');
    const other: WalletBooks = { ...wallet.books(), name: 'beta', accounts: [] };
    expect(compare([other]).differences).toContain(`bet ${first} reached alpha and beta`);

    const second = await place('5');
    const { bets, accounts }: ServiceBooks = service.books();
    const mixed = bets.map((bet) =>
      bet.transactionId === second ? { ...bet, userId: 'someone' } : bet,
    );
    const { differences } = compareBooks({ bets: mixed, accounts }, [wallet.books()]);
    expect(differences).toContain('player alpha/ann is several: ann, someone');
  });
});
