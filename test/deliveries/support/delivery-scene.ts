import { vi } from 'vitest';
import type { DeliverableOperation } from '../../../src/domain/operation.ts';
import type { BetAnswer } from '../../../src/domain/wallet-answer.ts';
import { SendPermit } from '../../../src/operations/attempt.ts';
import { recordDelivery, tryDelivery } from '../../../src/operations/deliver.ts';
import type { Engine } from '../../../src/operations/engine.ts';
import type { Outcome } from '../../../src/store/bets/outcome.ts';
import type { TakenDelivery } from '../../../src/store/deliveries/claim-statements.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { noTracing } from '../../../src/telemetry/tracing.ts';
import type { BetCall, CallerDialect, Wallet } from '../../../src/wallets/call.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

const trace = { sent: true, latencyMs: 1 };
export const ANSWERS = {
  accepted: { kind: 'accepted', transactionTime: 'of the wallet', trace },
  declined: { kind: 'declined', code: 5, message: 'no such bet', trace },
  alreadyProcessed: { kind: 'declined', code: 8, message: 'done before', trace },
  silent: { kind: 'unknown', fault: 'timeout', trace },
  notSent: { kind: 'notSent', reason: 'breaker', trace: { ...trace, sent: false } },
} as const satisfies Record<string, BetAnswer>;

/** A claimed delivery whose message has these raw members. */
export function takenOf(
  operation: DeliverableOperation,
  changes: Partial<TakenDelivery> = {},
  members: Readonly<Record<string, string | undefined>> = {},
): TakenDelivery {
  return {
    ...{ id: '70', operation, purpose: 'promise', transactionId: 'b26153f9' },
    ...{ operationId: '7', attemptId: 'attempt', attempts: 1, isOverdue: false },
    isSentOnceMore: false,
    ...{ result: undefined, hasLaterUpdate: false, followsResolved: false },
    ...{ createdAt: new Date(0), transactionTime: 'as promised' },
    body: body({ ...BETS[operation].members, requestId: '"r1"', ...members }),
    owner: { operatorId: 'alpha', playerId: '1', userId: '1999', operatorUser: 'ann' },
    sealedToken: undefined,
    bet: { ...FRESH, sessionId: undefined },
    ...changes,
  };
}

interface Scene {
  readonly sent?: BetAnswer;
  readonly dialect?: Partial<CallerDialect>;
  readonly bets?: object;
  /** The generation of the wallet that is configured by now. */
  readonly generation?: number;
  readonly sessions?: object;
  readonly finish?: () => Promise<{ readonly kind: string }>;
}

/**
 * One attempt of a delivery at a wallet that answers as the test says, and everything that was asked of the parts.
 */
export async function tried(taken: TakenDelivery, scene: Scene = {}) {
  const { sent = ANSWERS.accepted, finish = async () => ({ kind: 'committed' }) } = scene;
  const clock = new TestClock();
  const calls: BetCall[] = [];
  const written: Outcome[] = [];
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const changed = vi.fn();
  const metrics = createMetrics();
  const delivery = { minBackoffMs: 100, maxBackoffMs: 10_000, confirmUnknownAfterMs: 77_000 };
  const engine = partly<Engine>({
    ...{ clock, logger, metrics, tracing: noTracing, changes: { changed } },
    configuration: () => ({
      gateway: {
        deadline: { totalMs: 4_800, reserveMs: 300 },
        delivery: { ...delivery, minBackoffMs: 1_000, confirmUnknownAfterMs: 60_000 },
      },
      operators: new Map([['alpha', { delivery, wallet: { generation: scene.generation ?? 1 } }]]),
    }),
    sessions: scene.sessions ?? {},
    bets: {
      finish: async (outcome: Outcome) => {
        written.push(outcome);
        return await finish();
      },
      ...scene.bets,
    },
  });
  const wallet = partly<Wallet>({
    callerDialect: scene.dialect ?? {},
    bet: async (call: BetCall) => {
      calls.push(call);
      return sent;
    },
  });
  const permit = new SendPermit(clock);
  const result = await tryDelivery(engine, wallet, taken, permit, 1);
  return {
    ...{ result, calls, written, logger, clock, changed, permit },
    ...{ after: result.after, conclusion: result.concluded.conclusion },
    /** Records it, and returns what was recorded. */
    recorded: async () => {
      await recordDelivery(engine, result);
      const { values } = await metrics.deliveryAttempts.get();
      return { outcome: written[0], counted: values.reduce((sum, { value }) => sum + value, 0) };
    },
  };
}
