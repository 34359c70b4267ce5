import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { wagergate } from '../cli/support/command-line.ts';
import { placedBet } from '../support/bet.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { PATIENT_MS } from '../support/timing.ts';
import { deliveriesOf, sql } from './support/deliveries.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway();
  onTestFinished(() => gateway.close());
});

/** A bet that was answered 200 and is at its wallet, in a journal that was restored to an hour ago. */
async function restoredBet() {
  const bet = await placedBet(gateway, { amount: '10' });
  const { transactionId } = bet;
  const anHourAgo = `now() - interval '1 hour'`;
  await sql(gateway, `DELETE FROM attempts a USING operations o WHERE o.id = a.operation_id`);
  await sql(gateway, `UPDATE operations SET created_at = ${anHourAgo}`);
  await sql(
    gateway,
    `UPDATE bets SET place = 'in_flight', place_time = NULL, busy_operation = 'place', created_at = ${anHourAgo},
            busy_attempt = (SELECT attempt_id FROM operations), busy_until = ${anHourAgo}`,
  );
  return { bet, transactionId };
}

/** As in the manual's step, with only PostgreSQL and the files. */
const deliveries = (...args: readonly string[]) =>
  wagergate(['deliveries', ...args, '--operator', 'alpha'], {
    env: {
      DATABASE_URL: gateway.databaseUrl,
      GATEWAY_CONFIG: gateway.configFolder,
      SERVICE_SECRET,
    },
  });

function startWorker(): void {
  const worker = gateway.parts.deliveryWorker();
  onTestFinished(() => worker.close());
  worker.start();
}

describe('a journal that was restored to an earlier moment', () => {
  it('has a place of that moment rolled back only when its operator is let go on', async () => {
    const { bet, transactionId } = await restoredBet();
    expect((await deliveries('hold', '--reason', 'restored')).code).toBe(0);
    startWorker();
    await expect
      .poll(() => betState(gateway.databaseUrl, transactionId), { timeout: PATIENT_MS })
      .toMatchObject({ place: 'unknown', rollback: 'promised' });
    expect(await deliveriesOf(bet)).toMatchObject([{ state: 'pending' }]);
    expect(bet.arrivals()).toEqual(['place']);

    expect((await deliveries('resume')).code).toBe(0);
    await expect.poll(() => bet.arrivals(), { timeout: PATIENT_MS }).toContain('rollback');
  });
});
