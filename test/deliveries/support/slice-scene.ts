import { pino } from 'pino';
import { vi } from 'vitest';
import type { OperatorConfig } from '../../../src/config/schema/schema.ts';
import { Pace } from '../../../src/deliveries/pace.ts';
import { Slice, type Slicing } from '../../../src/deliveries/slice.ts';
import { LiveCalls } from '../../../src/domain/live-calls.ts';
import { BetChanges } from '../../../src/operations/bet-changes.ts';
import { rollbackBody } from '../../../src/protocol/callback-bodies.ts';
import type { Claim } from '../../../src/store/deliveries/claim.ts';
import type { TakenDelivery } from '../../../src/store/deliveries/claim-statements.ts';
import type { DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { noTracing } from '../../../src/telemetry/tracing.ts';
import type { Wallet } from '../../../src/wallets/call.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

export function taken(id: number): TakenDelivery {
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
    isSentOnceMore: false,
    ...{ result: undefined, hasLaterUpdate: false, followsResolved: false },
    isOverdue: false,
    createdAt: new Date(),
    transactionTime: '2026-01-01T00:00:00.000Z',
    body: Buffer.from(rollbackBody(slip, 50)),
    owner: { operatorId: 'alpha', playerId: '1', userId: 'user', operatorUser: 'ann' },
    sealedToken: { sealed: Buffer.from('token'), tokenHash: Buffer.alloc(32) },
    bet: {
      ...FRESH,
      amount: slip.amount,
      currency: slip.currency,
      place: { kind: 'accepted', transactionTime: '2026-01-01T00:00:00.000Z' },
      rollback: { kind: 'promised', transactionTime: '2026-01-01T00:00:00.000Z' },
    },
  };
}

interface Scene {
  readonly clock?: TestClock;
  /** How many calls may be under way at once. */
  readonly concurrency?: number;
  readonly ratePerSecond?: number;
  readonly breaker?: 'closed' | 'half_open';
  readonly isHeld?: () => boolean;
  /** Resolves when the journal's writes are done. */
  readonly written?: Promise<void>;
}

type Take = DeliveryStore['take'];

/** The parts of a slice, which behave as the test says. */
export function partsOf(take: Take, call: Wallet['bet'], scene: Scene = {}) {
  const { clock = new TestClock(), breaker = 'closed', concurrency = 2, ratePerSecond } = scene;
  const finished: string[] = [];
  const backoff = { minBackoffMs: 1, maxBackoffMs: 1, confirmUnknownAfterMs: 1 };
  const delivery = { ...backoff, concurrency, ratePerSecond };
  const operator = { id: 'alpha', wallet: { generation: 1 }, delivery };
  const configuration = {
    gateway: { deadline: { totalMs: 4_800, reserveMs: 300 }, delivery },
    operators: new Map([['alpha', operator]]),
    invalidOperators: new Set(),
  };
  const slicing = {
    clock,
    logger: pino({ level: 'silent' }),
    metrics: createMetrics(),
    tracing: noTracing,
    configuration: () => configuration,
    sessions: { unseal: String },
    changes: new BetChanges(),
    liveCalls: new LiveCalls(clock),
    bets: {
      finish: async (outcome: { attemptId: string }) => {
        await scene.written;
        finished.push(outcome.attemptId);
        return { kind: 'committed' };
      },
    },
    store: { take: vi.fn(take), nudge: vi.fn(async (_: string) => undefined) },
  };
  const wallet = { breakerState: () => breaker, callerDialect: {}, bet: call };
  return { slicing, wallet, operator, clock, finished };
}

/** A slice of one second with these parts. */
export function sliceOf(take: Take, call: Wallet['bet'], scene: Scene = {}) {
  const { slicing, wallet, operator, clock, finished } = partsOf(take, call, scene);
  const slice = new Slice(partly<Slicing>(slicing), {
    wallet: partly<Wallet>(wallet),
    operator: partly<OperatorConfig>(operator),
    pace: new Pace(clock),
    endsAtMs: clock.atMs + 1_000,
    isHeld: scene.isHeld ?? (() => false),
    isStopping: () => false,
  });
  const { store, liveCalls } = slicing;
  return { slice, clock, finished, store, liveCalls };
}

export const claim = (...ids: number[]): Claim => ({
  taken: ids.map(taken),
  isDry: ids.length === 0,
});
export const accepted = async () => ({
  kind: 'accepted' as const,
  transactionTime: '2026-01-01T00:00:00.000Z',
  trace: { sent: true, latencyMs: 1 },
});

export const notSent = async () => ({
  kind: 'notSent' as const,
  reason: 'breaker' as const,
  trace: { sent: false, latencyMs: 0 },
});

/** As many deliveries as are asked for, without end, and what was asked. */
export function endless() {
  const asked: { readonly limit: number; readonly which: string }[] = [];
  let last = 0;
  const take: Take = async (_operatorId, { limit, which = 'all' }) => {
    asked.push({ limit, which });
    const ids = Array.from({ length: limit }, () => {
      last += 1;
      return last;
    });
    return claim(...ids);
  };
  return { asked, take };
}
