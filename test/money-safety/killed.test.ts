import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody, rollbackBody, settleBody } from '../../src/protocol/callback-bodies.ts';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { endLeases } from '../deliveries/support/deliveries.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { type GatewayProcess, startGateway } from '../support/processes.ts';
import { acceptedBet, timeComes, untilDeliveriesAre } from './support/bets.ts';
import { PATIENCE, PATIENT, QUICK } from './support/patience.ts';

/** The surviving gateway; the other one is a separate process on the same servers. */
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT },
  });
});
afterAll(() => gateway.close());

async function startVictim(): Promise<{ process: GatewayProcess; service: SimulatedService }> {
  const process = await startGateway({
    env: {
      DATABASE_URL: gateway.databaseUrl,
      REDIS_URL: gateway.redisUrl,
      GATEWAY_CONFIG: gateway.configFolder,
      HOST: '127.0.0.1',
      PORT: '0',
      ADMIN_PORT: '0',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      SERVICE_SECRET,
      ROLES: 'http',
    },
  });
  const line = await process.waitForLine(({ json }) => json?.msg === 'gateway.listening', 60_000);
  const baseUrl = String(line.json?.address);
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  return { process, service };
}

/** The call reaches the wallet, gets no answer, and takes effect when the test says so. */
const hanging = { kind: 'hang', effect: 'later' } as const;

describe('a replica that is killed in the middle of calls', { timeout: 120_000 }, () => {
  /** One whose settle, one whose rollback and one whose place is at the wallet, and nobody waits any more. */
  let settled: TestBet;
  let rolledBack: TestBet;
  let placed: TestBet;
  beforeAll(async () => {
    const victim = await startVictim();
    [settled, rolledBack] = [await acceptedBet(gateway), await acceptedBet(gateway)];
    placed = await unplacedBet(gateway);
    const calls = [
      [settled, 'settle', hanging],
      [rolledBack, 'rollback', { kind: 'hang' }],
      [placed, 'place', hanging],
    ] as const;
    for (const [{ wallet, transactionId }, operation, how] of calls) {
      wallet.misbehave(operation, how, { transactionId, calls: 1 });
    }
    const result = { amount: '20', resultType: 'won', token: undefined } as const;
    const asked = [
      victim.service.call('PUT', '/payment/bet', settleBody(settled.slip, result)),
      victim.service.call('PUT', '/payment/bet', rollbackBody(rolledBack.slip, 50)),
      victim.service.call('POST', '/payment/bet', placeBody(placed.slip)),
    ];
    for (const [{ wallet, transactionId }, operation] of calls) {
      const arrived = () => wallet.arrivals(transactionId, operation).length === 1;
      await wallet.waitFor(arrived, PATIENCE.timeout);
    }
    await victim.process.kill();
    for (const { failure } of await Promise.all(asked)) expect(failure).toBe('connection');
    await victim.service.close();
    for (const { transactionId } of [settled, rolledBack, placed]) {
      await endLeases(gateway, transactionId);
    }
  }, 120_000);

  it('its settle lands late over a newer one: what stands is sent once more (rule 3, I5)', async () => {
    await expect.poll(async () => (await settled.settle('50')).status, PATIENCE).toBe(200);
    settled.wallet.applyLate(settled.transactionId);
    expect(settled.balance()).toBe('920');
    await timeComes(settled, 'first');
    expect(settled.balance()).toBe('950');
  });

  it('its rollback is delivered by another: it was promised before it was sent (I4)', async () => {
    await untilDeliveriesAre(rolledBack, [{ operation: 'rollback', state: 'delivered' }]);
    expect(rolledBack.balance()).toBe('1000');
  });

  it('its place is unknown, never repeated, and closed by a rollback (I5)', async () => {
    const { transactionId, wallet } = placed;
    await expect.poll(async () => (await placed.place()).json?.code, PATIENCE).toBe(100);
    // A wallet without tombstones, which debits late.
    wallet.misbehave('rollback', { kind: 'code', code: 8 }, { transactionId, calls: 1 });
    expect((await placed.rollback()).json?.code).toBe(8);
    wallet.applyLate(transactionId);
    expect(placed.balance()).toBe('900');
    await timeComes(placed, 'first');
    expect(placed.balance()).toBe('1000');
    expect(wallet.arrivals(transactionId, 'place')).toHaveLength(1);
    expect(await betState(gateway.databaseUrl, transactionId)).toMatchObject({ busy: null });
  });
});
