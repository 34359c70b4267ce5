import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { settleBody } from '../../src/protocol/callback-bodies.ts';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { type Deployment, openDeployment, type Replica } from '../process/support/deployment.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { acceptedBet, untilDeliveriesAre } from './support/bets.ts';
import { STATEMENTS, settleDown, startHeldGateway } from './support/held-gateway.ts';
import { PATIENCE, PATIENT, QUICK } from './support/patience.ts';

const TOTAL_MS = 3_000;
const BETS = 6;

describe('rule 5: a frozen replica does not act on the past (I5, I11)', {
  timeout: 120_000,
}, () => {
  let deployment: Deployment;
  let frozen: Replica;
  let well: SimulatedService;
  beforeAll(async () => {
    deployment = await openDeployment({
      gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: 300 } },
      operators: { alpha: PATIENT },
    });
    const [one, other] = await Promise.all([deployment.replica(), deployment.replica()]);
    frozen = one;
    well = createService({ baseUrl: other.baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  }, 120_000);
  afterAll(async () => {
    await well.close();
    await deployment.close();
  });

  /** Bets that the replica which will be frozen has placed itself, over connections that stay open. */
  async function betsThrough(service: SimulatedService) {
    const player = await deployment.player(frozen.baseUrl, { balance: '100000' });
    const slips = Array.from({ length: BETS }, () => service.slip({ ...player, amount: '10' }));
    for (const slip of slips) {
      const placed = async () => (await service.place({ ...slip, ...player })).kind;
      await expect.poll(placed, PATIENCE).toBe('accepted');
    }
    return slips;
  }

  const settles = (transactionId: string) =>
    deployment
      .wallet('alpha')
      .arrivals(transactionId, 'settle')
      .map(({ amount }) => amount);

  /** Freezes it with SIGSTOP for longer than any caller waits. */
  async function freeze<T>(work: () => Promise<T>): Promise<T> {
    const sinceMs = performance.now();
    // Not by its supervisor, which is another process and sends it later: the first request came before it.
    process.kill(frozen.process.pid, 'SIGSTOP');
    try {
      const result = await work();
      await expect.poll(() => performance.now() - sinceMs > TOTAL_MS + 500, PATIENCE).toBe(true);
      return result;
    } finally {
      process.kill(frozen.process.pid, 'SIGCONT');
    }
  }

  /** Resolves when the thawed replica has read everything that waited: it answers a new bet. */
  async function thawed(service: SimulatedService): Promise<void> {
    const player = await deployment.player(frozen.baseUrl);
    const place = async () => (await service.place({ ...player, amount: '1' })).kind;
    await expect.poll(place, PATIENCE).toBe('accepted');
  }

  it.each([
    ['hung up long ago', 500],
    ['still wait', 30_000],
  ])('requests whose senders %s are not sent over newer results', async (_, timeoutMs) => {
    const baseUrl = frozen.baseUrl;
    const options = { baseUrl, secret: SERVICE_SECRET, retryScale: 0 };
    const sender = createService({ ...options, timeoutMs });
    const patient = createService({ ...options, timeoutMs: 30_000 });
    onTestFinished(async () => {
      await sender.close();
      await patient.close();
    });
    const slips = await betsThrough(patient);
    const settle = (service: SimulatedService, slip: (typeof slips)[number], amount: string) =>
      service.call(
        'PUT',
        '/payment/bet',
        settleBody(slip, { amount, resultType: 'won', token: undefined }),
      );
    const old = await freeze(async () => {
      const asked = slips.map((slip) => settle(sender, slip, '20'));
      if (timeoutMs < TOTAL_MS) await Promise.all(asked);
      for (const slip of slips) {
        await expect.poll(async () => (await settle(well, slip, '50')).status, PATIENCE).toBe(200);
      }
      return asked;
    });
    const answers = await Promise.all(old);
    await thawed(patient);
    for (const { transactionId } of slips) {
      expect([transactionId, settles(transactionId)]).toEqual([transactionId, ['50']]);
    }
    // Callers that still wait learn that it was not done; 408 if the freeze split the bytes.
    const told = timeoutMs < TOTAL_MS ? [0] : [503, 408];
    for (const { status } of answers) expect(told).toContain(status);
  });
});

/** A machine that was paused: afterwards its wall clock is ahead, but its monotonic clock is not. */
class PausedClock implements Clock {
  pausedMs = 0;
  nowMs = () => systemClock.nowMs() + this.pausedMs;
  monotonicMs = () => systemClock.monotonicMs();
}

describe('rule 5: the lease is looked at again in the moment of sending (I6)', {
  timeout: 60_000,
}, () => {
  const clock = new PausedClock();
  const starting = startHeldGateway({
    worker: true,
    clock,
    gateway: QUICK,
    operators: {
      alpha: { settle: { onFailure: 'queue' }, ...PATIENT },
    },
  });
  afterAll(async () => (await starting).close());

  it('a delivery that was claimed before a pause is not sent after it, but claimed again', async () => {
    const { gateway, postgres } = await starting;
    const bet = await acceptedBet(gateway);
    gateway.parts.wallets.setOverride('alpha', 'money', 'open');
    expect((await bet.settle('20')).status).toBe(200);
    const take = postgres.holdAnswer(STATEMENTS.claim, 'alpha');
    gateway.parts.wallets.setOverride('alpha', 'money', 'auto');
    await take.answered;
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
      busy: 'settle',
    });
    clock.pausedMs += 16_000;
    const again = postgres.holdRequest(STATEMENTS.claim, 'alpha');
    take.release();
    await again.stopped;
    expect(bet.arrivals()).toEqual(['place']);
    again.release();
    await untilDeliveriesAre(bet, [{ state: 'delivered', attempts: 1 }]);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
  });

  it('a callback whose intent was committed before a pause is not sent after it', async () => {
    const { gateway, postgres } = await starting;
    const bet = await acceptedBet(gateway);
    const commit = postgres.holdAnswer(STATEMENTS.commit, bet.transactionId);
    const unsettling = bet.unsettle();
    await commit.answered;
    clock.pausedMs += 16_000;
    commit.release();
    expect((await unsettling).status).toBe(503);
    expect(bet.arrivals()).toEqual(['place']);
    await settleDown(gateway);
    expect((await bet.unsettle()).status).toBe(200);
  });

  it('a request whose peer has gone meanwhile is neither sent nor promised (I11)', async () => {
    const { gateway, postgres } = await starting;
    const bet = await acceptedBet(gateway);
    const { baseUrl } = gateway;
    const hasty = createService({ baseUrl, secret: SERVICE_SECRET, timeoutMs: 400 });
    onTestFinished(() => hasty.close());
    const commit = postgres.holdAnswer(STATEMENTS.commit, bet.transactionId);
    const body = settleBody(bet.slip, { amount: '20', resultType: 'won', token: undefined });
    expect((await hasty.call('PUT', '/payment/bet', body)).failure).toBe('timeout');
    await commit.answered;
    // After another round trip the gateway knows that the caller hung up.
    await gateway.service.balance(bet.player);
    commit.release();
    await settleDown(gateway);
    expect(bet.arrivals()).toEqual(['place']);
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({ busy: null });
    // Nor is it promised, although its operator's settles are queued: nobody was answered.
    await untilDeliveriesAre(bet, []);
  });
});
