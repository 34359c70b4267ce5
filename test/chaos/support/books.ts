import { expect } from 'vitest';
import { rebuildBooks } from '../../../src/books/rebuild.ts';
import { dayEnd } from '../../../tools/demo/statements.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';

interface Kept {
  readonly databaseUrl: string;
  readonly wallets: readonly SimulatedWallet[];
  query(text: string): Promise<readonly unknown[]>;
}

/**
 * Whatever was killed and cut: the statements equal the wallets' own books, the checker has found
 * nothing, and the movements made again from the journal are those that were kept (I12).
 */
export async function booksAgree(house: Kept): Promise<void> {
  const wallets = Object.fromEntries(house.wallets.map((wallet) => [wallet.name, wallet]));
  expect((await dayEnd(house.databaseUrl, wallets)).differences).toEqual([]);
  const options = { timeZone: 'UTC', fromDay: undefined, log: () => undefined };
  expect(await rebuildBooks(house.databaseUrl, options)).toMatchObject({ changed: 0 });
  expect(await house.query('SELECT * FROM books_violations')).toEqual([]);
}
