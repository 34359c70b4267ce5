import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DeliveryAdmin } from '../../src/store/deliveries/delivery-admin.ts';
import { DeliveryHolds } from '../../src/store/deliveries/holds.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import { BY } from '../support/audit.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PATIENT_MS } from '../support/timing.ts';
import { attemptsMade, sql, untilDeliveries } from './support/deliveries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const operator = { wallet: { breaker: { minRequests: 100_000 } } };
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: { minBackoffMs: 50, maxBackoffMs: 100, horizonHours: 1 },
    },
    operators: {
      alpha: operator,
      beta: operator,
      gamma: operator,
      delta: operator,
      epsilon: operator,
    },
  });
});
afterAll(() => gateway.close());

/** The ways in which an operator stops accepting calls, and accepts them again. */
const HOLDS = [
  {
    because: 'an open breaker',
    operatorId: 'alpha',
    hold: async () => gateway.parts.wallets.setOverride('alpha', 'money', 'open'),
    release: async () => gateway.parts.wallets.setOverride('alpha', 'money', 'closed'),
  },
  {
    because: 'maintenance',
    operatorId: 'beta',
    hold: () => inTurn(() => gateway.reconfigure('beta', { status: 'maintenance' })),
    release: () => inTurn(() => gateway.reconfigure('beta', {})),
  },
  {
    because: 'its removal',
    operatorId: 'gamma',
    hold: () =>
      inTurn(async () => {
        await rm(join(gateway.configFolder, 'operators', 'gamma.yaml'));
        await gateway.reload();
      }),
    release: () => inTurn(() => gateway.reconfigure('gamma', {})),
  },
  {
    because: "a person's word",
    operatorId: 'epsilon',
    hold: () => withHolds((holds) => holds.hold('epsilon', BY)),
    release: () => withHolds((holds) => holds.resume('epsilon', BY)),
  },
];

let lastChange: Promise<void> = Promise.resolve();

/** These tests run concurrently and share one folder: a reload fails if a file disappears while it reads. */
function inTurn(change: () => Promise<void>): Promise<void> {
  lastChange = lastChange.then(change, change);
  return lastChange;
}

async function withHolds(use: (holds: DeliveryHolds) => Promise<boolean>): Promise<void> {
  const prisma = createPrisma(gateway.databaseUrl);
  try {
    expect(await use(new DeliveryHolds(prisma))).toBe(true);
  } finally {
    await prisma.$disconnect();
  }
}

/** Resolves when more of an operator's time has been counted as held. */
async function untilHeldLonger(operatorId: string): Promise<void> {
  const heldMs = async () => {
    const text = 'SELECT held_ms::int AS ms FROM operator_holds WHERE operator_id = $1';
    const [hold] = await sql<{ ms: number }>(gateway, text, [operatorId]);
    return hold?.ms ?? 0;
  };
  const before = await heldMs();
  await expect.poll(heldMs).toBeGreaterThan(before);
}

/** As if the bet's delivery and the hold, which has begun after it, were two hours older: twice the horizon. */
async function ageHeld({ transactionId, gateway }: TestBet, operatorId: string): Promise<void> {
  await sql(
    gateway,
    `WITH held AS (UPDATE operator_holds SET held_ms = held_ms + 7200000 WHERE operator_id = $1)
     UPDATE deliveries SET created_at = created_at - interval '2 h', dead_at = dead_at - interval '2 h'
      WHERE transaction_id = $2`,
    [operatorId, transactionId],
  );
}

describe('an operator that takes no calls', () => {
  it.concurrent.each(HOLDS)(
    'because of $because gets no delivery, which spends no attempt and does not age (I4)',
    async ({ operatorId, hold, release }) => {
      const bet = await placedBet(gateway, { operatorId });
      const stopFailing = bet.wallet.misbehave('rollback', { kind: 'status', status: 500 });
      await bet.rollback();
      await hold();
      // The attempt that was under way has ended by the second count.
      await untilHeldLonger(operatorId);
      await untilHeldLonger(operatorId);
      const before = await attemptsMade(bet);
      await ageHeld(bet, operatorId);
      await untilHeldLonger(operatorId);
      await untilDeliveries(bet, [{ state: 'pending', attempts: before }]);
      const labels = { operator: operatorId, operation: 'rollback', state: 'held' };
      await vi.waitFor(
        async () => expect(await gateway.metric('gateway_deliveries', labels)).toBe(1),
        { timeout: PATIENT_MS, interval: 50 },
      );

      await release();
      // Not dead at once: as much of its horizon is left as before.
      await expect.poll(() => attemptsMade(bet)).toBeGreaterThan(before);
      stopFailing();
      await untilDeliveries(bet, [{ state: 'delivered' }]);
    },
  );
});

it('bets of an older wallet wait for a person, do not age, and are sent when released (I4)', async () => {
  const old = await placedBet(gateway, { operatorId: 'delta' });
  await gateway.reconfigure('delta', { wallet: { generation: 2 } });
  expect((await old.rollback()).status).toBe(200);
  const fresh = await placedBet(gateway, { operatorId: 'delta' });
  fresh.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 1 });
  await fresh.rollback();
  await untilDeliveries(fresh, [{ state: 'delivered' }]);
  await untilDeliveries(old, [{ state: 'pending', attempts: 0 }]);
  expect(old.arrivals()).toEqual(['place']);

  await sql(
    gateway,
    `UPDATE deliveries SET created_at = created_at - interval '1 h',
            dead_at = dead_at - interval '1 h' WHERE transaction_id = $1`,
    [old.transactionId],
  );
  const stopFailing = old.wallet.misbehave('rollback', { kind: 'status', status: 500 });
  await withAdmin((admin) => admin.release('delta', { upTo: 2, to: 2 }, BY));
  await expect.poll(() => attemptsMade(old)).toBeGreaterThan(0);
  stopFailing();
  await untilDeliveries(old, [{ state: 'delivered' }]);
});

async function withAdmin(work: (admin: DeliveryAdmin) => Promise<unknown>): Promise<void> {
  const prisma = createPrisma(gateway.databaseUrl);
  const isHeld = () => false;
  await work(new DeliveryAdmin({ prisma, isHeld, horizonHours: () => 1 }));
  await prisma.$disconnect();
}
