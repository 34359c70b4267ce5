import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import type { OperatorConfig } from '../../src/config/schema.ts';
import { Pace } from '../../src/deliveries/pace.ts';
import { Slice, type Slicing } from '../../src/deliveries/slice.ts';
import { BetChanges } from '../../src/engine/bet-changes.ts';
import { rollbackBody } from '../../src/protocol/callback-bodies.ts';
import type { Claim } from '../../src/store/deliveries/queue.ts';
import type { TakenDelivery } from '../../src/store/deliveries/taken.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { noTracing } from '../../src/telemetry/tracing.ts';
import type { Wallet } from '../../src/wallets/call.ts';
import { partly } from '../support/partly.ts';
import { TestClock } from '../support/test-clock.ts';

/** A slice among parts that do as the test says; the real ones are in the other files. */

function taken(id: number): TakenDelivery {
  const transactionId = `bet-${id}`;
  const slip = {
    transactionId,
    token: 'token-of-its-place',
    userId: 'user',
    currency: 'USD',
    amount: '10',
    coefficient: '1.2',
    bonusId: null,
    bonusTemplateId: null,
  };
  return {
    id: String(id),
    operation: 'rollback',
    purpose: 'promise',
    transactionId,
    operationId: String(id),
    attemptId: transactionId,
    attempts: 1,
    isOverdue: false,
    createdAt: new Date(),
    transactionTime: '2026-01-01T00:00:00.000Z',
    body: Buffer.from(rollbackBody(slip, 50)),
    owner: { operatorId: 'alpha', playerId: '1', userId: 'user', operatorUser: 'ann' },
    sessionId: '1',
    sealedToken: { sealed: Buffer.from('token'), tokenHash: Buffer.alloc(32) },
    bet: {
      place: { kind: 'accepted', transactionTime: '2026-01-01T00:00:00.000Z' },
      settlement: { kind: 'none' },
      rollback: { kind: 'promised', transactionTime: '2026-01-01T00:00:00.000Z' },
      late: undefined,
    },
  };
}

function sliceOf(take: () => Promise<Claim>, call: Wallet['bet'], clock = new TestClock()) {
  const finished: string[] = [];
  const delivery = { concurrency: 2, minBackoffMs: 1, maxBackoffMs: 1, confirmUnknownAfterMs: 1 };
  const operator = { id: 'alpha', wallet: { generation: 1 }, delivery };
  const configuration = {
    gateway: { deadline: { totalMs: 4_800, reserveMs: 300 }, delivery },
    operators: new Map([['alpha', operator]]),
  };
  const slicing = {
    clock,
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
    tracing: noTracing,
    configuration: () => configuration,
    sessions: { unseal: String },
    changes: new BetChanges(),
    bets: {
      finish: async (outcome: { attemptId: string }) => {
        finished.push(outcome.attemptId);
        return { kind: 'stands' };
      },
    },
    store: { take: vi.fn(take) },
  };
  const wallet = { breakerState: () => 'closed', callerDialect: {}, bet: call };
  const slice = new Slice(partly<Slicing>(slicing), {
    wallet: partly<Wallet>(wallet),
    operator: partly<OperatorConfig>(operator),
    pace: new Pace(clock),
    endsAtMs: clock.atMs + 1_000,
    isHeld: () => false,
    isStopping: () => false,
  });
  return { slice, clock, finished, store: slicing.store };
}

const claim = (...ids: number[]): Claim => ({ taken: ids.map(taken), isDry: ids.length === 0 });
const accepted = async () => ({
  kind: 'accepted' as const,
  transactionTime: '2026-01-01T00:00:00.000Z',
  trace: { sent: true, latencyMs: 1 },
});

describe('a slice', () => {
  it('brings also what was claimed while its time ran out: nothing waits for a lease', async () => {
    const late = Promise.withResolvers<Claim>();
    const claims = [Promise.resolve(claim(1, 2, 3)), late.promise];
    const { slice, clock, finished, store } = sliceOf(
      () => claims.shift() ?? Promise.resolve(claim()),
      accepted,
    );
    const run = slice.run();
    await vi.waitFor(() => expect(store.take).toHaveBeenCalledTimes(2));
    await vi.waitFor(() => expect(finished).toHaveLength(3));
    clock.atMs += 2_000;
    late.resolve(claim(4, 5));
    await run;
    expect(finished.toSorted()).toEqual(['bet-1', 'bet-2', 'bet-3', 'bet-4', 'bet-5']);
    expect(store.take).toHaveBeenCalledTimes(2);
  });

  it('claims ahead only what quick calls can begin soon', async () => {
    const clock = new TestClock();
    const limits: number[] = [];
    const { slice, store } = sliceOf(
      async () =>
        limits.length < 4 ? claim(limits.length * 2 + 1, limits.length * 2 + 2) : claim(),
      async () => {
        // Half a second each: by the time a call ends, nobody knows what has become of the rest.
        clock.atMs += 250;
        return await accepted();
      },
      clock,
    );
    store.take.mockImplementation(async (...args: unknown[]) => {
      limits.push(Number(args[2]));
      return limits.length < 4 ? claim(limits.length * 2 - 1, limits.length * 2) : claim();
    });
    await slice.run();
    expect(Math.max(...limits)).toBeLessThanOrEqual(2);
  });

  it('ends with what PostgreSQL throws, after its calls under way are written down', async () => {
    let asked = 0;
    const { slice, finished } = sliceOf(async () => {
      asked += 1;
      if (asked > 1) throw new Error('gone');
      return claim(1);
    }, accepted);
    await expect(slice.run()).rejects.toThrow('gone');
    expect(finished).toEqual(['bet-1']);
  });
});
