import { vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { LiveCalls } from '../../../src/domain/live-calls.ts';
import type { BetAnswer, NotSentReason } from '../../../src/domain/wallet-answer.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import type { PlaceRequest } from '../../../src/protocol/messages.ts';
import type { Session, SessionLookup } from '../../../src/sessions/session.ts';
import type { Commit, Committed, OperationRecord } from '../../../src/store/bets/commit.ts';
import type { Finished, Outcome } from '../../../src/store/bets/outcome.ts';
import type { PlaceBegin, PlaceIntent, PlaceResult } from '../../../src/store/bets/place.ts';
import type { BetCall, Wallet } from '../../../src/wallets/call.ts';
import { bet, message } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

export const AT = '2026-01-02T03:04:05.000Z';
export const SESSION: Session = {
  sessionId: '5',
  owner: { operatorId: 'alpha', playerId: '9', userId: '1999', operatorUser: 'ann' },
  currency: 'USD',
  operatorToken: 'token-of-alpha',
  expiresAtMs: 9_000_000,
};
const ACCEPTED: BetAnswer = {
  kind: 'accepted',
  transactionTime: AT,
  trace: { sent: true, latencyMs: 7.4, status: 200 },
};
export const DECLINED: BetAnswer = {
  ...{ kind: 'declined', code: 7, message: 'No money' },
  trace: { sent: true, latencyMs: 7.4, status: 400, code: 7 },
};
export const UNKNOWN: BetAnswer = {
  ...{ kind: 'unknown', fault: 'timeout' },
  trace: { sent: true, latencyMs: 7.4 },
};
export const NOT_SENT: BetAnswer = {
  ...{ kind: 'notSent', reason: 'connection' },
  trace: { sent: false, latencyMs: 7.4 },
};
export const SYSTEM_ERROR = { status: 400, body: '{"code":100,"message":"System error"}' };
export const away = new GatewayError('DATABASE_UNAVAILABLE', 'away');

/** The smallest place of this player, with changes. */
export function placeOf(changes: Readonly<Record<string, string>> = {}): PlaceRequest {
  const read = message(bet('place', changes));
  if (read.operation !== 'place') throw new Error('no place');
  return read;
}

/** How the parts behave; by default everything succeeds. */
export interface PlaceScene {
  readonly lookup?: SessionLookup;
  /** The session as PostgreSQL has it later. */
  readonly certain?: SessionLookup;
  readonly configured?: { readonly subPartnerId?: string; readonly generation: number } | 'gone';
  /** `wallet.generation` after the intent was written. */
  readonly generationThen?: number;
  readonly hasNoWallet?: boolean;
  readonly refusal?: NotSentReason;
  readonly sent?: BetAnswer;
  /** How long after its arrival the callback's turn comes, out of 1000 ms, 300 of which are reserved. */
  readonly lateMs?: number;
  readonly begin?: () => Promise<PlaceBegin>;
  readonly finish?: () => Promise<Finished>;
  /** The bet as each look finds it; later looks find the last one. */
  readonly bets?: readonly (Bet | undefined)[];
  readonly commit?: () => Promise<Committed>;
}

/** Runs a place with parts that behave as the test says, and records what it asks of them, in order. */
export function placeScene(scene: PlaceScene = {}) {
  const { lookup = { kind: 'live', session: SESSION }, configured = { generation: 3 } } = scene;
  const clock = new TestClock();
  const deadline = new Deadline(clock, clock.atMs - (scene.lateMs ?? 0), 1_000, 300);
  const steps: string[] = [];
  const kept = {
    ...{ intents: [] as PlaceIntent[], results: [] as PlaceResult[], calls: [] as BetCall[] },
    ...{
      commits: [] as Commit[],
      outcomes: [] as Outcome[],
      refusals: [] as OperationRecord[],
      wanted: [] as (() => boolean)[],
    },
  };
  const counts = { rejected: vi.fn(), duplicates: vi.fn(), conflicts: vi.fn(), unknown: vi.fn() };
  const log = { warn: vi.fn(), error: vi.fn() };
  const remember = vi.fn(async (_id: string, _place: object) => undefined);
  const next = vi.fn(async () => true);
  const route = vi.fn(async (_token: string) => lookup);
  const findCertain = vi.fn(async (_token: string) => scene.certain ?? lookup);
  const limits = new Map([[deadline, new Date(8_000)]]);
  const looks = [...(scene.bets ?? [undefined])];
  const wallet = partly<Wallet>({
    callerDialect: {},
    refusal: (operation: string) => (operation === 'place' ? scene.refusal : undefined),
    bet: async (call: BetCall) => {
      steps.push('call');
      kept.calls.push(call);
      return scene.sent ?? ACCEPTED;
    },
  });
  const { subPartnerId, generation } =
    configured === 'gone' ? {} : { subPartnerId: undefined, ...configured };
  const walletOf = { generation };
  const alpha = { subPartnerId, wallet: walletOf, delivery: { confirmUnknownAfterMs: 60_000 } };
  const operators = new Map(configured === 'gone' ? [] : [['alpha', alpha]]);
  const callbacks = partly<Callbacks>({
    clock,
    logger: log,
    metrics: {
      ...{ rejected: { inc: counts.rejected }, duplicates: { inc: counts.duplicates } },
      ...{ conflicts: { inc: counts.conflicts }, unknownOutcomes: { inc: counts.unknown } },
    },
    configuration: () => ({ operators }),
    sessions: { route, findCertain, hashOf: (token: string) => Buffer.from(`hash of ${token}`) },
    wallets: { get: (id: string) => (id === 'alpha' && !scene.hasNoWallet ? wallet : undefined) },
    answers: { remember },
    changes: { next, changed: () => steps.push('changed') },
    liveCalls: new LiveCalls(clock),
    places: {
      begin: async (intent: PlaceIntent, _deadline: Deadline, isWanted: () => boolean) => {
        steps.push('begin');
        kept.intents.push(intent);
        kept.wanted.push(isWanted);
        walletOf.generation = scene.generationThen ?? walletOf.generation;
        return await (scene.begin?.() ?? { kind: 'begun', operationId: '7' });
      },
      finish: async (result: PlaceResult, before: Deadline) => {
        if (!limits.has(before)) throw new Error('the deadline of another');
        steps.push('finish');
        kept.results.push(result);
        return await (scene.finish?.() ?? { kind: 'committed' });
      },
    },
    bets: {
      find: async () => (looks.length > 1 ? looks.shift() : looks[0]),
      limitOf: async (before: Deadline) => limits.get(before),
      operationIdOf: async () => undefined,
      operationsOf: async () => [],
      hasPlace: async () => true,
      recordRefusal: async (_from: Bet, record: OperationRecord) => {
        steps.push('refusal');
        kept.refusals.push(record);
        return true;
      },
      correctAnswer: async () => undefined,
      commit: async (commit: Commit, before: Deadline) => {
        if (!limits.has(before)) throw new Error('the deadline of another');
        steps.push('commit');
        kept.commits.push(commit);
        return await (scene.commit?.() ?? { kind: 'committed', operationId: '7' });
      },
      finish: async (outcome: Outcome) => {
        steps.push('finish');
        kept.outcomes.push(outcome);
        return await (scene.finish?.() ?? { kind: 'committed' });
      },
    },
  });
  return {
    ...{ callbacks, deadline, clock, steps, kept },
    ...{ counts, log, remember, next, route, findCertain },
  };
}
