import { expect, vi } from 'vitest';
import { type DeliveryState, deliveriesOf, sql } from '../../deliveries/support/deliveries.ts';
import { type BetOptions, placedBet, type TestBet } from '../../support/bet.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { PATIENCE } from './patience.ts';

/** A bet that its wallet has accepted, however long a busy machine takes to place one in time. */
export async function acceptedBet(gateway: TestGateway, options?: BetOptions): Promise<TestBet> {
  return await vi.waitFor(() => placedBet(gateway, options), PATIENCE);
}

/** The amounts of the settles that reached the wallet, in order. */
export function settlesOf(bet: TestBet): readonly string[] {
  return bet.wallet.arrivals(bet.transactionId, 'settle').map(({ amount }) => amount);
}

/** What the journal says that the service was answered, oldest first. */
export async function answersOf(
  bet: TestBet,
): Promise<readonly { operation: string; status: number | null; body: string | null }[]> {
  return await sql<{ operation: string; status: number | null; body: string | null }>(
    bet.gateway,
    `SELECT o.operation, coalesce(o.answer_status, a.answer_status) AS status,
            CASE WHEN o.answer_status IS NULL THEN a.answer_body ELSE o.answer_body END AS body
       FROM operations o
       LEFT JOIN LATERAL (SELECT answer_status, answer_body FROM attempts
                           WHERE operation_id = o.id AND answer_status IS NOT NULL
                           ORDER BY number LIMIT 1) a ON true
      WHERE o.transaction_id = $1 ORDER BY o.id`,
    [bet.transactionId],
  );
}

/** Resolves once the bet's promises and confirmations look like that. */
export async function untilDeliveriesAre(
  bet: TestBet,
  expected: readonly Partial<DeliveryState>[],
): Promise<readonly DeliveryState[]> {
  return await vi.waitFor(async () => {
    const rows = await deliveriesOf(bet);
    expect(rows).toMatchObject(expected);
    return rows;
  }, PATIENCE);
}

/** Resolves once the wallet's settles of this bet are these. */
export async function untilSettlesAre(bet: TestBet, amounts: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(settlesOf(bet)).toEqual(amounts), PATIENCE);
}

/** Resolves once every time to send what stands once more is over. */
export async function untilNothingMayLandLate(bet: TestBet): Promise<void> {
  const left = async () => {
    const [row] = await sql<{ left: number }>(
      bet.gateway,
      'SELECT confirm_left AS left FROM bets WHERE transaction_id = $1',
      [bet.transactionId],
    );
    return row?.left;
  };
  await expect.poll(left, PATIENCE).toBe(0);
}
