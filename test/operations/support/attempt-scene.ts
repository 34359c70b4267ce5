import { vi } from 'vitest';
import { Deadline } from '../../../src/domain/deadline.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { LiveCalls } from '../../../src/domain/live-calls.ts';
import type { BetOperation } from '../../../src/domain/operation.ts';
import type { BetAnswer } from '../../../src/domain/wallet-answer.ts';
import { type Attempt, type Begun, runAttempt } from '../../../src/operations/attempt.ts';
import type { Engine } from '../../../src/operations/engine.ts';
import type { AttemptRecord } from '../../../src/store/bets/attempt-record.ts';
import type { Finished } from '../../../src/store/bets/outcome.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

export const ACCEPTED: BetAnswer = {
  kind: 'accepted',
  transactionTime: 'then',
  trace: { sent: true, latencyMs: 7, status: 200 },
};
export const UNKNOWN: BetAnswer = {
  kind: 'unknown',
  fault: 'timeout',
  trace: { sent: true, latencyMs: 9, error: 'no answer' },
};
export const TOLD = { status: 200, body: 'as the wallet said' };
export const LATE = { status: 503, body: 'later' };
export const BEGUN: Begun = { kind: 'begun', operationId: '7' };
export const away = new GatewayError('DATABASE_UNAVAILABLE', 'away');

export interface Scene {
  readonly operation?: BetOperation;
  /** A delivery: nobody waits for its answer. */
  readonly isDelivery?: boolean;
  readonly sent?: BetAnswer;
  readonly finish?: () => Promise<Finished>;
  /** What each look for an intent of unknown fate finds; nothing after the last. */
  readonly looks?: readonly (string | undefined | Error)[];
}

/** Runs one attempt of a bet and records everything that it does, in order. */
export function sceneOf(scene: Scene = {}) {
  const { operation = 'settle', sent = ACCEPTED, isDelivery = false } = scene;
  const clock = new TestClock();
  const steps: string[] = [];
  const records: AttemptRecord[] = [];
  const left = [...(scene.looks ?? [])];
  const operationIdOf = vi.fn(async (_: unknown) => {
    const found = left.shift();
    if (found instanceof Error) throw found;
    return found;
  });
  const correct = vi.fn(async (_: unknown) => undefined);
  const logger = { error: vi.fn(), warn: vi.fn() };
  const inc = vi.fn();
  const engine = partly<Engine>({
    clock,
    logger,
    metrics: { unknownOutcomes: { inc } },
    bets: { operationIdOf, correctAnswer: correct },
    changes: { changed: (transactionId: string) => steps.push(`changed ${transactionId}`) },
    liveCalls: new LiveCalls(clock),
  });
  const maySend = vi.fn<() => boolean>();
  const attempt: Attempt = {
    transactionId: 'bet',
    attemptId: 'a',
    operatorId: 'alpha',
    operation,
    // 1000 ms in all, the last 50 of which are for sending the answer.
    deadline: isDelivery ? undefined : new Deadline(clock, clock.atMs, 1_000, 300),
    call: async (sending) => {
      steps.push('call');
      maySend.mockImplementation(sending.maySend);
      clock.wallMs += 7;
      return sent;
    },
    conclude: ({ kind }) => {
      const outcome = kind === 'notSent' ? ('not_sent' as const) : kind;
      const conclusion = { outcome, answer: undefined, change: {} };
      const delivery = { kind: 'none' } as const;
      return { conclusion, delivery, answer: TOLD, lateAnswer: LATE, promisedTime: 'promised' };
    },
    finish: (operationId, { kind }, written) => {
      steps.push(`finish ${operationId} ${kind === 'notSent' ? 'not_sent' : kind}`);
      records.push(written);
      return scene.finish?.() ?? Promise.resolve({ kind: 'committed' });
    },
  };
  const begin = (begun: () => Promise<Begun | { readonly kind: 'moved' }>, withinMs = 600) =>
    runAttempt(
      engine,
      attempt,
      () => {
        steps.push('begin');
        return begun();
      },
      withinMs,
    );
  return {
    ...{ engine, attempt, begin, clock, steps, records, maySend },
    ...{ operationIdOf, correct, logger, inc },
  };
}

export const later = <T>(afterMs: number, value: () => T) =>
  new Promise<T>((resolve, reject) => {
    setTimeout(() => {
      try {
        resolve(value());
      } catch (error) {
        reject(error);
      }
    }, afterMs);
  });
export const failing = () => {
  throw away;
};
