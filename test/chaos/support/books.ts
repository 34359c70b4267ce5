import { expect, vi } from 'vitest';
import { rebuildBooks } from '../../../src/books/rebuild.ts';
import { dayEnd } from '../../../tools/demo/statements.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';

/** Confirmed but not yet booked. The sums may agree earlier: a lost bet's result moves nothing. */
const UNBOOKED = `
  SELECT a.operation_id FROM attempts a CROSS JOIN books_cursor c
   WHERE a.confirmed
     AND (a.written_in, a.operation_id, a.number) > (c.written_in, c.operation_id, c.number)`;
const PATIENT = { timeout: 20_000, interval: 100 };

interface Kept {
  readonly databaseUrl: string;
  readonly wallets: readonly SimulatedWallet[];
  query(text: string): Promise<readonly unknown[]>;
}

/**
 * After everything that was killed and cut, the statements equal the wallets' own books, the checker has found
 * nothing, and the movements rebuilt from the journal equal the stored ones (I12).
 */
export async function booksAgree(deployment: Kept): Promise<void> {
  // Not expect.poll, which does not know its test when several run concurrently.
  await vi.waitFor(async () => expect(await deployment.query(UNBOOKED)).toEqual([]), PATIENT);
  const wallets = Object.fromEntries(deployment.wallets.map((wallet) => [wallet.name, wallet]));
  expect((await dayEnd(deployment.databaseUrl, wallets)).differences).toEqual([]);
  const options = { timeZone: 'UTC', fromDay: undefined, log: () => undefined };
  expect(await rebuildBooks(deployment.databaseUrl, options)).toMatchObject({ changed: 0 });
  expect(await deployment.query('SELECT * FROM books_violations')).toEqual([]);
}
