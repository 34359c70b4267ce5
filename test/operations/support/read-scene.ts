import { expect, vi } from 'vitest';
import type { BetOwner } from '../../../src/domain/bet.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import type { ReadFailure } from '../../../src/domain/wallet-answer.ts';
import type { Handled } from '../../../src/operations/answers.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';
import type { Session, SessionLookup } from '../../../src/sessions/session.ts';
import type { ReadAnswer, ReadCall } from '../../../src/wallets/call.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';
import { SESSION } from './place-scene.ts';

/** What a wallet answers to a read, as raw JSON. */
export const answered = (text: string): ReadAnswer => ({
  kind: 'answered',
  document: parseJsonObject(Buffer.from(text)),
  trace: { sent: true, latencyMs: 7.4, status: 200 },
});

export const DATALESS: readonly [string, ReadFailure, object][] = [
  [
    'refused',
    {
      ...{ kind: 'declined', code: 9, message: 'Blocked' },
      trace: { sent: true, latencyMs: 7.4 },
    },
    {
      answer: { status: 400, body: '{"code":9,"message":"Blocked"}' },
      ...{ outcome: 'declined', operatorId: 'alpha', detail: { code: 9 } },
    },
  ],
  [
    'not sent',
    { kind: 'notSent', reason: 'bulkhead', trace: { sent: false, latencyMs: 0.4 } },
    {
      answer: { status: 503, body: '{"code":100,"message":"System error"}' },
      ...{ outcome: 'not_sent', operatorId: 'alpha', detail: { walletMs: 0, reason: 'bulkhead' } },
    },
  ],
  [
    'without an answer',
    { kind: 'unknown', fault: 'timeout', trace: { sent: true, latencyMs: 7.6, error: 'late' } },
    {
      answer: { status: 503, body: '{"code":100,"message":"System error"}' },
      ...{ outcome: 'error', operatorId: 'alpha' },
      detail: { walletMs: 8, reason: 'timeout', error: 'late' },
    },
  ],
];

/** How the parts behave; by default everything succeeds. */
interface ReadScene {
  readonly lookup?: SessionLookup;
  /** The answer that the limit of refusals gives. */
  readonly limited?: Handled;
  readonly answer?: ReadAnswer;
  readonly hasNoWallet?: boolean;
  readonly sessions?:
    | { readonly mode: 'issued' | 'prefixed'; readonly ttlSeconds: number }
    | 'gone';
  /** The operator's file is removed while its wallet is called. */
  readonly goesMeanwhile?: boolean;
  /** Of the operator's file; default: anything. */
  readonly currencies?: readonly string[];
  readonly ensure?: (operatorId: string, operatorUser: string) => Promise<BetOwner>;
  readonly learn?: () => Promise<Session | undefined>;
}

/** Runs a profile or balance with parts that behave as the test says. */
export function readScene(scene: ReadScene = {}) {
  const { lookup = { kind: 'live', session: SESSION } } = scene;
  const { sessions = { mode: 'issued', ttlSeconds: 100 } } = scene;
  const clock = new TestClock();
  const deadline = new Deadline(clock, clock.atMs, 1_000, 300);
  const calls: ReadCall[] = [];
  const [rejected, warn, repaired] = [vi.fn(), vi.fn(), vi.fn()];
  const currencies = scene.currencies ?? { includes: () => true };
  const find = vi.fn(async (_token: string) => lookup);
  const limit = vi.fn((_operation: string, _token: string) => scene.limited);
  const note = vi.fn((_operation: string, _token: string, _operatorId: string) => undefined);
  const learn = vi.fn(async (..._: unknown[]) => await (scene.learn?.() ?? SESSION));
  const ensure = vi.fn(scene.ensure ?? (async () => SESSION.owner));
  const endForCurrency = vi.fn(async (_token: string, _session: Session) => undefined);
  const operators = new Map(
    sessions === 'gone' ? [] : ['alpha', 'a'].map((id) => [id, { sessions, currencies }] as const),
  );
  const wallet = {
    read: async (call: ReadCall) => {
      calls.push(call);
      if (scene.goesMeanwhile) operators.clear();
      return heardBy(call, scene.answer ?? answered('{}'));
    },
  };
  const callbacks = partly<Callbacks>({
    configuration: () => ({ operators, invalidOperators: new Set() }),
    sessions: { find, learn, endForCurrency },
    players: { ensure },
    refusedReads: { limit, note },
    repairedAnswers: { note: repaired },
    wallets: { get: (id: string) => (id === 'alpha' && !scene.hasNoWallet ? wallet : undefined) },
    metrics: { rejected: { inc: rejected } },
    logger: { warn },
  });
  return {
    ...{ callbacks, deadline, calls, rejected, warn, repaired, find },
    ...{ limit, note, learn, ensure, endForCurrency },
  };
}

/** As a wallet does: what its caller calls broken is no answer. */
function heardBy({ whyBroken }: ReadCall, answer: ReadAnswer): ReadAnswer {
  const error = answer.kind === 'answered' ? whyBroken?.(answer.document) : undefined;
  if (error === undefined) return answer;
  return { kind: 'unknown', fault: 'bad_answer', trace: { ...answer.trace, error } };
}

/** Sessions that are no longer valid, and how that is answered. */
export const OVER: readonly [string, SessionLookup, number, string | undefined][] = [
  ['nobody knows', { kind: 'unknown' }, 3, undefined],
  ['is out of date', { kind: 'expired', session: SESSION }, 4, 'alpha'],
  ['was revoked', { kind: 'ended', reason: 'revoked', session: SESSION }, 3, 'alpha'],
  ['ended with its currency', { kind: 'ended', reason: 'currency', session: SESSION }, 4, 'alpha'],
];

export const tokenRefused = (code: number, operatorId: string | undefined) => ({
  answer: {
    status: 400,
    body: `{"code":${code},"message":"${code === 3 ? 'Invalid token' : 'Token out of date'}"}`,
  },
  ...{ outcome: 'invalid', operatorId, detail: { code } },
});

export const MAINTENANCE = {
  answer: { status: 503, body: '{"code":100,"message":"System error"}' },
  ...{ outcome: 'not_sent', operatorId: 'alpha', detail: { reason: 'maintenance' } },
};

export const BROKEN = {
  answer: { status: 503, body: '{"code":100,"message":"System error"}' },
  ...{ outcome: 'error', operatorId: 'alpha' },
  detail: expect.objectContaining({ walletMs: 7, reason: 'bad_answer' }),
};
