import { vi } from 'vitest';
import type { Bet, BetOwner, OpenDelivery, Settlement } from '../../../src/domain/bet.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import { LiveCalls } from '../../../src/domain/live-calls.ts';
import type { BetAnswer, NotSentReason } from '../../../src/domain/wallet-answer.ts';
import { BetCallback } from '../../../src/operations/bet-callback.ts';
import { failure } from '../../../src/protocol/answers.ts';
import type {
  RollbackRequest,
  SettleRequest,
  UnsettleRequest,
  UpdateRequest,
} from '../../../src/protocol/messages.ts';
import type { SessionLookup } from '../../../src/sessions/session.ts';
import type { Commit, Committed } from '../../../src/store/bets/commit.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import type { Finished, Outcome } from '../../../src/store/bets/outcome.ts';
import type { BetCall, CallerDialect } from '../../../src/wallets/call.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { bet, message } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { resultsAmong } from '../../support/recorded-results.ts';
import { TestClock } from '../../support/test-clock.ts';

interface Requests {
  settle: SettleRequest;
  unsettle: UnsettleRequest;
  rollback: RollbackRequest;
  update: UpdateRequest;
}

export interface Scene {
  /** Additional members of the smallest message, as raw JSON. */
  readonly members?: Readonly<Record<string, string | undefined>>;
  /** The bet as each look finds it; later looks find the last one. */
  readonly looks?: readonly (Bet | undefined)[];
  /** What the wallet answers; null: the operator's file is gone. */
  readonly sent?: BetAnswer | null;
  readonly refusal?: NotSentReason;
  readonly dialect?: Partial<CallerDialect>;
  readonly onFailure?: 'error' | 'queue';
  /** The generation of the operator's wallet. */
  readonly generation?: number;
  /** The player for the message's `userId`, if the bet is unknown. */
  readonly player?: BetOwner;
  /** To which generation people have released the bets of that player's operator. */
  readonly releasedTo?: number;
  /** The bet's earlier operations, newest first. */
  readonly recorded?: readonly RecordedOperation[];
  /** The sessions of the service's tokens. */
  readonly sessions?: Readonly<Record<string, SessionLookup>>;
  /** How much of the callback's 4.8 s is already spent. */
  readonly spentMs?: number;
}

export const TRANSACTION = 'b26153f9';
/** The current time of a scene's clock. */
export const NOW = '1970-01-01T00:16:40.000Z';
/** The time of an earlier event. */
export const THEN = '2026-01-02T03:04:05.000Z';
/** The wallet's own time for what it did. */
export const AT_WALLET = '2026-01-02T03:04:06.000Z';
/** When the caller must be answered, on PostgreSQL's clock. */
export const LIMIT = new Date('2026-01-02T03:04:10.000Z');
/** The stored form of a callback's bytes. */
export const STORED = Buffer.from('as it is kept');

export const DONE: BetAnswer = {
  kind: 'accepted',
  transactionTime: AT_WALLET,
  trace: { sent: true, latencyMs: 12.6 },
};
export const NO_ANSWER: BetAnswer = {
  kind: 'unknown',
  fault: 'timeout',
  trace: { sent: true, latencyMs: 4_000.4 },
};
export const NOT_CONNECTED: BetAnswer = {
  kind: 'notSent',
  reason: 'connection',
  trace: { sent: false, latencyMs: 2 },
};
export function declined(code: number): BetAnswer {
  return { kind: 'declined', code, message: 'No', trace: { sent: true, latencyMs: 5, code } };
}

/** The answer to a result or unsettle that did not reach its wallet. */
export const UNAVAILABLE = failure(100, 'System error', 503);

export const PLAYER: BetOwner = {
  ...{ operatorId: 'alpha', playerId: '1' },
  ...{ userId: '1999', operatorUser: 'ann' },
};
/** A bet whose place was accepted and that has had no operation since. */
export const PLACED: Bet = {
  ...FRESH,
  ...{ transactionId: TRANSACTION, owner: PLAYER, sessionId: '7', amount: '12.10', version: 2 },
  place: { kind: 'accepted', transactionTime: THEN },
};
const SETTLED: Settlement = {
  ...{ kind: 'settled', amount: '12.1', resultType: 'won' },
  transactionTime: THEN,
};
/** The same bet with that result. */
export const SETTLED_BET: Bet = { ...PLACED, settlement: SETTLED, version: 3 };
/** A promise of the bet that waits for its wallet; by default a win of 1. */
export function waiting(changes: Partial<OpenDelivery> = {}): OpenDelivery {
  const settle = { settle: { amount: '1', resultType: 'won' } } as const;
  const { operation = 'settle' } = changes;
  return {
    ...{ id: '9', operationId: '9', operation, attempts: 0, transactionTime: THEN },
    ...(operation === 'settle' ? settle : {}),
    ...changes,
  };
}

/** Records what is asked of the other parts, in order. */
class Steps {
  readonly taken: string[] = [];

  take<T>(name: string, value: T): T {
    this.taken.push(name);
    return value;
  }
}

function journalOf({ looks = [PLACED], recorded = [] }: Scene, steps: Steps) {
  const results = resultsAmong(recorded);
  const left = [...looks];
  const [commits, outcomes]: [Commit[], Outcome[]] = [[], []];
  const bets = {
    find: vi.fn(async () => steps.take('find', left.length > 1 ? left.shift() : left[0])),
    commit: vi.fn(async (commit: Commit): Promise<Committed> => {
      commits.push(commit);
      return steps.take('commit', { kind: 'committed', operationId: '77' });
    }),
    finish: vi.fn(async (outcome: Outcome): Promise<Finished> => {
      outcomes.push(outcome);
      return steps.take('finish', { kind: 'committed' });
    }),
    limitOf: async () => LIMIT,
    correctAnswer: vi.fn(async (_: object) => undefined),
    answerOf: vi.fn(async (): Promise<object | undefined> => undefined),
    recordCopy: vi.fn(async () => true),
    recordRefusal: vi.fn(async (..._: readonly unknown[]) => steps.take('refusal', true)),
    operationsOf: vi.fn(async () => recorded),
    ...results,
    resultsOf: vi.fn(results.resultsOf),
    operationsUnder: async ({ requestId }: { readonly requestId: string }) =>
      recorded.filter((one) => one.requestId === requestId),
    hasPlace: async ({ requestId }: { readonly requestId: string | undefined }) =>
      recorded.some((one) => one.operation === 'place' && one.requestId === requestId),
    operationIdOf: async () => undefined,
  };
  return { bets, commits, outcomes };
}

function walletOf({ dialect = {}, refusal, sent = DONE }: Scene, steps: Steps) {
  const calls: BetCall[] = [];
  const wallet = {
    callerDialect: dialect,
    refusal: vi.fn((_: string) => refusal),
    bet: vi.fn(async (call: BetCall): Promise<BetAnswer | null> => {
      calls.push(call);
      return steps.take('call', sent);
    }),
  };
  return { wallet, calls };
}

function configurationOf({ sent, generation = 1, onFailure = 'error' }: Scene) {
  const backoff = { minBackoffMs: 1_000, maxBackoffMs: 300_000, confirmUnknownAfterMs: 60_000 };
  const gateway = { delivery: { ...backoff, confirmUnknownAfterMs: 30_000, horizonHours: 1 } };
  const delivery = { ...backoff, horizonHours: 2 };
  const operator = { delivery, wallet: { generation }, settle: { onFailure } };
  return { gateway, operators: new Map(sent === null ? [] : [['alpha', operator]]) };
}

const playerOf = (owner: BetOwner, { releasedTo = 0 }: Scene) => ({
  ...{ owner, released: releasedTo, releasedTo },
});

function watched() {
  const counted: (readonly [string, object])[] = [];
  const logged: (readonly [string, object, string])[] = [];
  const counter = (name: string) => ({ inc: (labels: object) => counted.push([name, labels]) });
  const log = (level: string) => (facts: object, name: string) => logged.push([level, facts, name]);
  const names = ['duplicates', 'conflicts', 'rejected', 'rollbacks', 'unknownOutcomes'];
  const metrics = Object.fromEntries(names.map((name) => [name, counter(name)]));
  return { metrics, logger: { warn: log('warn'), error: log('error') }, counted, logged };
}

/** Runs an operation of a bet through its callback and the engine, with stand-ins for the other parts. */
export function betScene<O extends keyof Requests>(operation: O, scene: Scene = {}) {
  const steps = new Steps();
  const clock = new TestClock();
  const { bets, commits, outcomes } = journalOf(scene, steps);
  const { wallet, calls } = walletOf(scene, steps);
  const { metrics, logger, counted, logged } = watched();
  const lookup = async (token: string) => scene.sessions?.[token] ?? { kind: 'unknown' };
  const sessions = {
    operatorTokenOf: vi.fn(async (sessionId: string) => `token of session ${sessionId}`),
    findKept: vi.fn(lookup),
    findCertain: vi.fn(lookup),
  };
  const changes = {
    next: vi.fn(async (..._: readonly unknown[]) => steps.take('wait', true)),
    changed: vi.fn(() => steps.take('woken', undefined)),
  };
  const fence = vi.fn(async (_: string) => steps.take('fence', undefined));
  const confirmations = { leaveToPerson: vi.fn(async (..._: readonly unknown[]) => true) };
  const configuration = configurationOf(scene);
  const callbacks = {
    ...{ clock, bets, sessions, changes, metrics, logger, confirmations },
    liveCalls: new LiveCalls(clock),
    answers: { fence },
    players: { findForBet: async () => scene.player && playerOf(scene.player, scene) },
    wallets: { get: (id: string) => (configuration.operators.has(id) ? wallet : undefined) },
    configuration: () => configuration,
  };
  const deadline = new Deadline(clock, clock.atMs - (scene.spentMs ?? 0), 4_800, 300);
  const asked = message(bet(operation, scene.members));
  const callback = new BetCallback<Requests[O]>(partly(callbacks), partly(asked), STORED, deadline);
  return {
    ...{ callback, configuration, deadline, clock, commits, outcomes, calls, counted, logged },
    ...{ bets, wallet, sessions, changes, confirmations, fence, steps: steps.taken },
  };
}
