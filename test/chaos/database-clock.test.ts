import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DeliveryState, sql, untilDeliveries } from '../deliveries/support/deliveries.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { makeClockSettable, setClock } from '../support/database-clock.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PATIENT_MS } from '../support/timing.ts';

const SOON = { timeout: PATIENT_MS, interval: 50 };
const HOUR_MS = 3_600_000;

describe('PostgreSQL’s clock was wrong and is put right', { timeout: 60_000 }, () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      worker: true,
      through: async (urls) => {
        await makeClockSettable(urls.databaseUrl);
        return urls;
      },
      gateway: {
        delivery: {
          minBackoffMs: 1_000,
          maxBackoffMs: 1_000,
          horizonHours: 1,
          confirmUnknownAfterMs: 1_000,
        },
      },
      operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
    });
  });
  afterEach(() => setClock(gateway.databaseUrl, '0'));
  afterAll(() => gateway.close());

  /** For a second after it was put forward, all limits have passed by this clock. */
  const aheadUntil = async (work: () => Promise<void>) => {
    await setClock(gateway.databaseUrl, '30 days');
    await vi.waitFor(work, SOON);
  };
  const stateOf = async ({ transactionId }: TestBet) => {
    const [bet] = await sql(gateway, 'SELECT * FROM bets WHERE transaction_id = $1', [
      transactionId,
    ]);
    return bet;
  };

  it('a delivery tried meanwhile waits no longer for its next attempt, and has its own horizon (I4)', async () => {
    const bet = await placedBet(gateway, { operatorId: 'alpha' });
    const stopFailing = bet.wallet.misbehave('rollback', { kind: 'status', status: 500 });
    await aheadUntil(async () => expect((await bet.rollback()).status).toBe(200));
    await untilDeliveries(bet, [{ state: 'pending', attempts: 1 }]);
    await setClock(gateway.databaseUrl, '0');
    const [tried] = await untilDeliveries(bet, [{ state: 'pending', attempts: 3 }], PATIENT_MS);
    expect(tried).toSatisfy(
      ({ dead_at, created_at }: DeliveryState) =>
        created_at.getTime() <= Date.now() && dead_at.getTime() < Date.now() + 1.1 * HOUR_MS,
    );
    stopFailing();
    await untilDeliveries(bet, [{ state: 'delivered' }]);
  });

  it('a delivery whose horizon is over by that clock alone is not given up (I4)', async () => {
    const bet = await placedBet(gateway, { operatorId: 'alpha' });
    const stopFailing = bet.wallet.misbehave('rollback', { kind: 'status', status: 500 });
    expect((await bet.rollback()).status).toBe(200);
    await setClock(gateway.databaseUrl, '30 days');
    await untilDeliveries(bet, [{ attempts: 4 }]);
    await setClock(gateway.databaseUrl, '0');
    stopFailing();
    await untilDeliveries(bet, [{ state: 'delivered' }], PATIENT_MS);
  });

  it('a delivery tried while the clock was behind keeps its horizon, and is no dead letter (I4)', async () => {
    const bet = await placedBet(gateway, { operatorId: 'alpha' });
    const stopFailing = bet.wallet.misbehave('rollback', { kind: 'status', status: 500 });
    expect((await bet.rollback()).status).toBe(200);
    const [promised] = await untilDeliveries(bet, [{ state: 'pending', attempts: 1 }]);
    // As after a failover to a standby whose clock is wrong: by it, all that waits is due in four days.
    await setClock(gateway.databaseUrl, '-4 days');
    const [behind] = await untilDeliveries(bet, [{ state: 'pending', attempts: 3 }], PATIENT_MS);
    await setClock(gateway.databaseUrl, '0');
    const [after] = await untilDeliveries(bet, [{ state: 'pending', attempts: 5 }], PATIENT_MS);
    for (const delivery of [behind, after]) {
      expect([delivery?.created_at, delivery?.dead_at]).toEqual([
        promised?.created_at,
        promised?.dead_at,
      ]);
    }
    stopFailing();
    await untilDeliveries(bet, [{ state: 'delivered' }]);
  });

  it('what waits no longer than some configuration lets it, waits on: a replica may have that one (I4)', async () => {
    const bets = await Promise.all([1, 2].map(() => placedBet(gateway, { operatorId: 'alpha' })));
    const stopFailing = gateway
      .wallet('alpha')
      .misbehave('rollback', { kind: 'status', status: 500 });
    const wait = async (bet: TestBet, time: string) => {
      await bet.rollback();
      await untilDeliveries(bet, [{ state: 'pending' }]);
      await sql(
        gateway,
        `UPDATE deliveries SET next_attempt_at = clock_timestamp() + $2::interval WHERE transaction_id = $1`,
        [bet.transactionId, time],
      );
    };
    const [patient, ahead] = bets;
    if (patient === undefined || ahead === undefined) throw new Error('two bets');
    await wait(patient, '1 day');
    await wait(ahead, '2 days');
    stopFailing();
    await untilDeliveries(ahead, [{ state: 'delivered' }], PATIENT_MS);
    await untilDeliveries(patient, [{ state: 'pending' }]);
  });

  it('a place of unknown outcome is rolled back by the gateway (I5)', async () => {
    const bets: TestBet[] = [];
    const stopFailing = gateway.wallet('alpha').misbehave('place', { kind: 'status', status: 500 });
    await aheadUntil(async () => {
      const bet = await unplacedBet(gateway, { operatorId: 'alpha' });
      await bet.place();
      expect(await stateOf(bet)).toMatchObject({ place: 'unknown', rollback: 'none' });
      bets.push(bet);
    });
    await setClock(gateway.databaseUrl, '0');
    stopFailing();
    for (const bet of bets) {
      const isRolledBack = { rollback: 'confirmed' };
      await vi.waitFor(async () => expect(await stateOf(bet)).toMatchObject(isRolledBack), SOON);
    }
  });

  it('a rollback of an unknown place is confirmed again (I5)', async () => {
    const bet = await unplacedBet(gateway, { operatorId: 'alpha' });
    const stopFailing = bet.wallet.misbehave('place', { kind: 'status', status: 500 });
    await bet.place();
    stopFailing();
    await aheadUntil(async () => {
      expect((await bet.rollback()).status).toBe(200);
      expect(await stateOf(bet)).toMatchObject({ rollback: 'confirmed', confirm_left: 2 });
    });
    await setClock(gateway.databaseUrl, '0');
    const isConfirmed = { confirm_left: 1 };
    await vi.waitFor(async () => expect(await stateOf(bet)).toMatchObject(isConfirmed), SOON);
  });

  it('an attempt whose process was killed meanwhile is taken for lost a whole lease later (I5, I6)', async () => {
    const bet = await placedBet(gateway, { operatorId: 'alpha' });
    await bet.leaveBusy('settle');
    const busyForMs = async () => {
      const [row] = await sql<{ ms: number }>(
        gateway,
        `SELECT extract(epoch FROM busy_until - clock_timestamp())::float8 * 1000 AS ms
           FROM bets WHERE transaction_id = $1`,
        [bet.transactionId],
      );
      return row?.ms ?? 0;
    };
    await sql(
      gateway,
      `UPDATE bets SET busy_until = busy_until + interval '30 days' WHERE transaction_id = $1`,
      [bet.transactionId],
    );
    const startedAtMs = performance.now();
    await vi.waitFor(async () => expect(await busyForMs()).toBeLessThan(15_001), SOON);
    const passedMs = performance.now() - startedAtMs;
    // Its owner may have begun just before the clock was put back.
    expect((await busyForMs()) + passedMs).toBeGreaterThan(14_500);
  });
});
