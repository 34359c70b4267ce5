import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../src/store/schema/migrate.ts';
import { acceptedBet, untilDeliveriesAre } from '../money-safety/support/bets.ts';
import { PATIENT, QUICK } from '../money-safety/support/patience.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { sql } from './support/deliveries.ts';

const MISSING = 'its request is missing: the journal lacks the tables of its month';

let gateway: TestGateway;
let month: string;
beforeEach(async () => {
  gateway = await startTestGateway({ gateway: QUICK, operators: { alpha: PATIENT } });
  onTestFinished(() => gateway.close());
  const [row] = await sql<{ month: string }>(
    gateway,
    `SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM') AS month`,
  );
  month = row?.month ?? '';
});

async function promised(): Promise<TestBet> {
  const bet = await acceptedBet(gateway, { amount: '10' });
  bet.wallet.misbehave('rollback', { kind: 'reset' });
  expect((await bet.rollback()).status).toBe(200);
  bet.wallet.behave();
  return bet;
}

function startWorker(): void {
  const worker = gateway.parts.deliveryWorker();
  onTestFinished(() => worker.close());
  worker.start();
}

describe('a promise of a month whose tables somebody has detached', () => {
  let bet: TestBet;
  beforeEach(async () => {
    bet = await promised();
    for (const table of ['operations', 'attempts']) {
      await sql(gateway, `ALTER TABLE ${table} DETACH PARTITION ${table}_${month}`);
    }
  });

  it('says what is missing, and ends as a dead letter (I4)', async () => {
    startWorker();
    await untilDeliveriesAre(bet, [{ state: 'pending', last_error: MISSING }]);
    await sql(gateway, 'UPDATE deliveries SET dead_at = clock_timestamp()');
    await untilDeliveriesAre(bet, [{ state: 'dead', last_error: MISSING }]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });
});

describe('a journal brought without its newest month and without its sequences', () => {
  /** As logical replication leaves it, where that month's tables were made after the subscription. */
  async function broughtWithoutMonth(): Promise<void> {
    await sql(gateway, `DROP TABLE operations_${month}, attempts_${month}`);
    await sql(gateway, 'SELECT journal_prepare_month(now())');
    await sql(gateway, 'ALTER SEQUENCE operations_id_seq RESTART');
  }

  it('gives no later request the id of one that is promised (I5)', async () => {
    await promised();
    await broughtWithoutMonth();
    await migrate(gateway.databaseUrl);
    await acceptedBet(gateway);
    const twice = await sql(
      gateway,
      'SELECT FROM operations o JOIN deliveries d ON d.operation_id >= o.id',
    );
    expect(twice).toEqual([]);
  });

  it('sends no other bet’s request for one that it lacks (I5)', async () => {
    const { player } = await promised();
    await broughtWithoutMonth();
    const since = await acceptedBet(gateway, { player, amount: '3' });
    await since.settle('20');
    await since.settle('0');
    const other = await sql(
      gateway,
      `SELECT FROM operations o JOIN deliveries d
      ON d.operation_id = o.id AND d.transaction_id <> o.transaction_id AND o.operation = 'settle'`,
    );
    expect(other).toHaveLength(1);
    const told = since.balance();
    startWorker();
    await expect
      .poll(() => sql(gateway, 'SELECT state, last_error FROM deliveries'))
      .toEqual([{ state: 'pending', last_error: MISSING }]);
    expect([since.arrivals(), since.balance()]).toEqual([['place', 'settle', 'settle'], told]);
  });
});
