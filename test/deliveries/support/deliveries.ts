import type { QueryResultRow } from 'pg';
import { expect, vi } from 'vitest';
import type { TestBet } from '../../support/bet.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';
import { watchStatements } from '../../support/statements.ts';
import { PATIENT_MS } from '../../support/timing.ts';

/** A delivery's row. */
export interface DeliveryState extends QueryResultRow {
  readonly id: string;
  readonly operation_id: string;
  readonly operator_id: string;
  readonly operation: string;
  readonly state: string;
  readonly attempts: number;
  readonly purpose: string;
  readonly last_error: string | null;
  readonly next_attempt_at: Date;
  readonly dead_at: Date;
  readonly created_at: Date;
  readonly settled_at: Date | null;
}

/** The row of one attempt at a wallet. */
export interface AttemptState extends QueryResultRow {
  readonly operation: string;
  readonly number: number;
  readonly started_at: Date;
  readonly latency_ms: number;
  readonly result: string;
  readonly status: number | null;
  readonly code: number | null;
  readonly error: string | null;
  readonly answer_status: number | null;
}

type Place = Pick<TestGateway, 'databaseUrl'>;

/** Runs one statement directly on the database. */
export async function sql<Row extends QueryResultRow>(
  { databaseUrl }: Place,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Row[]> {
  return await onServer(databaseUrl, async (client) => {
    const { rows } = await client.query<Row>(text, [...values]);
    return rows;
  });
}

/** Every delivery of a bet, oldest first. */
export function deliveriesOf(bet: TestBet): Promise<readonly DeliveryState[]> {
  return sql<DeliveryState>(
    bet.gateway,
    'SELECT * FROM deliveries WHERE transaction_id = $1 ORDER BY id',
    [bet.transactionId],
  );
}

/** How often the only delivery of a bet was tried. */
export async function attemptsMade(bet: TestBet): Promise<number> {
  const [delivery] = await deliveriesOf(bet);
  return delivery?.attempts ?? -1;
}

/** Every attempt of a bet's operations except its place, oldest first. */
export function attemptsOf(bet: TestBet): Promise<readonly AttemptState[]> {
  return sql<AttemptState>(
    bet.gateway,
    `SELECT o.operation, a.* FROM attempts a JOIN operations o ON o.id = a.operation_id
      WHERE o.transaction_id = $1 AND o.operation <> 'place' ORDER BY a.operation_id, a.number`,
    [bet.transactionId],
  );
}

/** Resolves with a bet's deliveries once they match. */
export async function untilDeliveries(
  bet: TestBet,
  expected: readonly Partial<DeliveryState>[],
  timeoutMs = PATIENT_MS,
): Promise<readonly DeliveryState[]> {
  return await vi.waitFor(
    async () => {
      const rows = await deliveriesOf(bet);
      expect(rows).toMatchObject(expected);
      return rows;
    },
    { timeout: timeoutMs, interval: 25 },
  );
}

/** Ends the leases of unfinished attempts, as if their time had passed. */
export async function endLeases(gateway: Place, transactionId: string): Promise<void> {
  await sql(
    gateway,
    `WITH bet AS (
       UPDATE bets SET busy_until = clock_timestamp()
        WHERE transaction_id = $1 AND busy_until IS NOT NULL
     )
     UPDATE deliveries SET next_attempt_at = clock_timestamp()
      WHERE transaction_id = $1 AND state IN ('live', 'pending')
        AND next_attempt_at > clock_timestamp()`,
    [transactionId],
  );
}

/** How often this process runs a statement while its worker sweeps this many times. */
export async function statementsWithin(
  gateway: TestGateway,
  name: string,
  sweeps: number,
): Promise<number> {
  const { sent, end } = watchStatements(gateway);
  const runs = (what: string) => sent().filter((one) => one.name === what).length;
  await vi.waitFor(() => expect(runs('delivery-open-operators')).toBeGreaterThanOrEqual(sweeps), {
    timeout: 15_000,
    interval: 10,
  });
  const count = runs(name);
  end();
  return count;
}
