import { vi } from 'vitest';
import { DeliveryWorker, type Working } from '../../../src/deliveries/worker.ts';
import type { NotSentReason } from '../../../src/domain/wallet-answer.ts';
import type { RecoveredBet } from '../../../src/store/bets/journal.ts';
import type { OpenCounts } from '../../../src/store/deliveries/backlog.ts';
import type { OpenOperator } from '../../../src/store/deliveries/queue.ts';
import type { BreakerChange } from '../../../src/wallets/wallets.ts';
import { partly } from '../../support/partly.ts';
import { REDIS_URL, withoutRedis } from './scheduler-scene.ts';
import { accepted, claim, partsOf } from './slice-scene.ts';

/** The counts if nothing waits. */
export const NOTHING_OPEN: OpenCounts = {
  ...{ live: [], waiting: [], dead: [], unresolved: [], unknownResults: [] },
};

/** When an operator's next delivery is due, as the store reports it. */
export const dueIn = (operatorId: string, nextInMs: number, nextAtMs = 7_000): OpenOperator => ({
  ...{ operatorId, nextInMs, nextAtMs },
});

/** A worker with parts that behave as the test says, for the operators `alpha` and `beta`. */
export function workerOf({
  hasLiveCalls = true,
  breakerState = 'closed',
}: {
  readonly hasLiveCalls?: boolean;
  readonly breakerState?: BreakerChange['state'];
} = {}) {
  const redis = withoutRedis();
  const parts = partsOf(async () => claim(), accepted);
  const duties: string[] = [];
  const duty = <T>(name: string, result: T) =>
    vi.fn(async (..._: readonly unknown[]): Promise<T> => {
      duties.push(name);
      return result;
    });
  const store = {
    take: parts.slicing.store.take,
    heldByPeople: duty<readonly string[]>('arm', []),
    openOperators: vi.fn(async (): Promise<readonly OpenOperator[]> => []),
    countHeld: vi.fn(async (_: readonly string[]) => undefined),
    wake: vi.fn(async (_operatorId: string, _limit: number) => 0),
    nudge: vi.fn(async (_operatorId: string) => undefined),
    overdueUnknown: duty('originate', []),
    countableUntil: duty('count', new Date(0)),
  };
  const backlog = { look: vi.fn(async (): Promise<OpenCounts> => NOTHING_OPEN) };
  const recoverLapsed = duty<readonly RecoveredBet[]>('recover', []);
  const due = duty('confirm', []);
  const logger = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const refusals = new Map<string, NotSentReason>();
  const listeners = new Set<(change: BreakerChange) => void>();
  const operators = new Map(
    ['alpha', 'beta'].map((id) => [
      id,
      { ...parts.operator, id, wallet: { generation: 3, breaker: { openMs: 5_000 } } },
    ]),
  );
  const worker = new DeliveryWorker(
    partly<Working>({
      ...{ ...parts.slicing, store, backlog, logger, confirmations: { due }, hasLiveCalls },
      bets: { ...parts.slicing.bets, recoverLapsed },
      configuration: () => ({ ...parts.slicing.configuration(), operators }),
      wallets: {
        get: (id: string) =>
          operators.has(id)
            ? {
                ...parts.wallet,
                refusal: () => refusals.get(id),
                breakerState: () => breakerState,
              }
            : undefined,
        onBreakerChange: (listener: (change: BreakerChange) => void) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
    }),
    { redisUrl: REDIS_URL, databaseId: 'here' },
  );
  const { metrics, clock } = { ...parts.slicing, ...parts };
  return {
    ...{
      ...redis,
      worker,
      store,
      backlog,
      duties,
      recoverLapsed,
      due,
      logger,
      refusals,
      operators,
    },
    ...{ metrics, clock, finished: parts.finished, listeners },
    /** The operators for which a drain was requested. */
    drainsAskedFor: () =>
      redis.armed().flatMap(({ name, data }) => (name === 'drain' ? [data.operatorId] : [])),
    breaker: (change: BreakerChange) => {
      for (const listener of listeners) listener(change);
    },
    drains: async () => {
      const { values } = await metrics.drains.get();
      // Both counters start at zero.
      const counted = values.filter(({ value }) => value > 0);
      return Object.fromEntries(counted.map(({ labels, value }) => [labels.by, value]));
    },
  };
}
