import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { placeBody, rollbackBody, settleBody } from '../../src/protocol/callback-bodies.ts';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { endLeases } from '../deliveries/support/deliveries.ts';
import { unplacedBet } from '../support/bet.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { type GatewayProcess, startGateway } from '../support/processes.ts';
import { acceptedBet, settlesOf, timeComes, untilDeliveriesAre } from './support/bets.ts';
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

async function startVictim(
  workers: string,
): Promise<{ process: GatewayProcess; service: SimulatedService }> {
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
      WORKERS: workers,
    },
  });
  const line = await process.waitForLine(({ json }) => json?.msg === 'gateway.listening', 60_000);
  const baseUrl = String(line.json?.address);
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  onTestFinished(async () => {
    await process.kill();
    await service.close();
  });
  return { process, service };
}

/** The call reaches the wallet, gets no answer, and takes effect when the test says so. */
const hanging = { kind: 'hang', effect: 'later' } as const;

describe.each(['1', '2'])(
  'a replica with WORKERS=%s that is killed in the middle of a call',
  {
    timeout: 120_000,
  },
  (workers) => {
    it('its settle lands late over a newer one: what stands is sent once more (rule 3, I5)', async () => {
      const victim = await startVictim(workers);
      const bet = await acceptedBet(gateway);
      const { transactionId, slip } = bet;
      bet.wallet.misbehave('settle', hanging, { transactionId, calls: 1 });
      const result = { amount: '20', resultType: 'won', token: undefined } as const;
      const asked = victim.service.call('PUT', '/payment/bet', settleBody(slip, result));
      await bet.wallet.waitFor(() => settlesOf(bet).length === 1, PATIENCE.timeout);
      await victim.process.kill();
      expect((await asked).failure).toBe('connection');
      await endLeases(gateway, transactionId);
      await expect.poll(async () => (await bet.settle('50')).status, PATIENCE).toBe(200);
      bet.wallet.applyLate(transactionId);
      expect(bet.balance()).toBe('920');
      await timeComes(bet, 'first');
      expect(bet.balance()).toBe('950');
    });

    it('its rollback is delivered by another: it was promised before it was sent (I4)', async () => {
      const victim = await startVictim(workers);
      const bet = await acceptedBet(gateway);
      const { transactionId, slip } = bet;
      bet.wallet.misbehave('rollback', { kind: 'hang' }, { transactionId, calls: 1 });
      const asked = victim.service.call('PUT', '/payment/bet', rollbackBody(slip, 50));
      const arrived = () => bet.wallet.arrivals(transactionId, 'rollback').length === 1;
      await bet.wallet.waitFor(arrived, PATIENCE.timeout);
      await victim.process.kill();
      await asked;
      await endLeases(gateway, transactionId);
      await untilDeliveriesAre(bet, [{ operation: 'rollback', state: 'delivered' }]);
      expect(bet.balance()).toBe('1000');
    });

    it('its place is unknown, never repeated, and closed by a rollback (I5)', async () => {
      const victim = await startVictim(workers);
      const bet = await unplacedBet(gateway);
      const { transactionId, slip } = bet;
      bet.wallet.misbehave('place', hanging, { transactionId, calls: 1 });
      const asked = victim.service.call('POST', '/payment/bet', placeBody(slip));
      const arrived = () => bet.wallet.arrivals(transactionId, 'place').length === 1;
      await bet.wallet.waitFor(arrived, PATIENCE.timeout);
      await victim.process.kill();
      await asked;
      await endLeases(gateway, transactionId);
      await expect.poll(async () => (await bet.place()).json?.code, PATIENCE).toBe(100);
      // A wallet without tombstones, which debits late.
      bet.wallet.misbehave('rollback', { kind: 'code', code: 8 }, { transactionId, calls: 1 });
      expect((await bet.rollback()).json?.code).toBe(8);
      bet.wallet.applyLate(transactionId);
      expect(bet.balance()).toBe('900');
      await timeComes(bet, 'first');
      expect(bet.balance()).toBe('1000');
      expect(bet.wallet.arrivals(transactionId, 'place')).toHaveLength(1);
      expect(await betState(gateway.databaseUrl, transactionId)).toMatchObject({ busy: null });
    });
  },
);
