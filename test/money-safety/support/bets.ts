import { expect, vi } from 'vitest';
import { type DeliveryState, deliveriesOf, sql } from '../../deliveries/support/deliveries.ts';
import { type BetOptions, placedBet, type TestBet } from '../../support/bet.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { PATIENCE } from './patience.ts';

/** A bet that its wallet has accepted, however long a busy machine needs to place one in time. */
export async function acceptedBet(gateway: TestGateway, options?: BetOptions): Promise<TestBet> {
  return await vi.waitFor(() => placedBet(gateway, options), PATIENCE);
}

/** The amounts of the settles that reached the wallet, in order. */
export function settlesOf(bet: TestBet): readonly string[] {
  return bet.wallet.arrivals(bet.transactionId, 'settle').map(({ amount }) => amount);
}

/** The `x-request-id` of each settle that reached the wallet, in order. */
export function requestIdsOf(bet: TestBet): readonly (string | string[] | undefined)[] {
  return bet.wallet.requests
    .filter(({ body }) => {
      const text = body.toString();
      return text.includes(bet.transactionId) && text.includes('"resultType"');
    })
    .map(({ headers }) => headers['x-request-id']);
}

/** The answers to the service according to the journal, oldest first. */
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

/** Resolves once the bet's promises and confirmations match. */
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

/** Resolves once the wallet's settles of this bet match. */
export async function untilSettlesAre(bet: TestBet, amounts: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(settlesOf(bet)).toEqual(amounts), PATIENCE);
}

/** The wallet loses the next such call: it sends no answer, and the call takes effect when the test says so. */
export function lose(bet: TestBet, operation: 'place' | 'settle' | 'unsettle'): void {
  const { transactionId } = bet;
  const lost = { kind: 'reset', effect: 'later' } as const;
  bet.wallet.misbehave(operation, lost, { transactionId, calls: 1 });
}

/** Lost calls of the bet land no more, though no confirmation has come due: no worker may be counting them. */
export async function hourPasses(bet: TestBet): Promise<void> {
  const back = `UPDATE bets SET late_at = late_at - interval '1 hour' WHERE transaction_id = $1`;
  await sql(bet.gateway, back, [bet.transactionId]);
}

/** A settle of 20 got no answer, and can land no more. */
export async function betInDoubt(gateway: TestGateway, options?: BetOptions): Promise<TestBet> {
  const bet = await acceptedBet(gateway, options);
  lose(bet, 'settle');
  expect((await bet.settle('20')).status).toBe(503);
  await hourPasses(bet);
  return bet;
}

async function timesLeft(bet: TestBet): Promise<number | undefined> {
  const [row] = await sql<{ left: number }>(
    bet.gateway,
    'SELECT confirm_left AS left FROM bets WHERE transaction_id = $1',
    [bet.transactionId],
  );
  return row?.left;
}

/**
 * Dates the last attempt of unknown outcome back, so that its confirmation is due; with the default of a minute. That is
 * a change of the bet, like each that dates such an attempt: a worker that read it before may not postpone it any more.
 */
export async function makeDue(bet: TestBet, which: 'first' | 'second'): Promise<void> {
  await sql(
    bet.gateway,
    `UPDATE bets SET late_at = clock_timestamp() - make_interval(secs => $2),
                     confirm_at = least(confirm_at, clock_timestamp()), version = version + 1
      WHERE transaction_id = $1 AND confirm_left = $3
        AND (late_at > clock_timestamp() - make_interval(secs => $2) OR confirm_at > clock_timestamp())`,
    [bet.transactionId, which === 'first' ? 61 : 601, which === 'first' ? 2 : 1],
  );
}

/** Lets the confirmation come due. Resolves when it is over, sent or not. */
export async function timeComes(bet: TestBet, which: 'first' | 'second'): Promise<void> {
  await vi.waitFor(
    async () => {
      await makeDue(bet, which);
      expect(await timesLeft(bet)).toBe(which === 'first' ? 1 : 0);
    },
    { ...PATIENCE, interval: 250 },
  );
}

/** Lets the first confirmation come due. Resolves after this many attempts, however they ended. */
export async function isConfirming(bet: TestBet, attempts = 1): Promise<void> {
  await vi.waitFor(
    async () => {
      const confirmations = (await deliveriesOf(bet)).filter((row) => row.purpose === 'confirm');
      if (confirmations.length === 0) await makeDue(bet, 'first');
      expect(confirmations[0]?.attempts).toBeGreaterThanOrEqual(attempts);
    },
    { ...PATIENCE, interval: 100 },
  );
}
