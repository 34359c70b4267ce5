import { vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { LiveCalls } from '../../../src/domain/live-calls.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { type CallbackEdge, callbackEndpoints } from '../../../src/operations/routes.ts';
import { sign, signingKeys } from '../../../src/protocol/signature.ts';
import type { SessionLookup } from '../../../src/sessions/session.ts';
import type { PlaceBegin, PlaceIntent } from '../../../src/store/bets/place.ts';
import type { SpanOptions, TraceSpan } from '../../../src/telemetry/tracing.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { BETS, bet, body, message } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';
import { AT, SESSION } from './place-scene.ts';
import { answered } from './read-scene.ts';

/** The service's secrets; during a rotation each of them is valid. */
const KEYS = signingKeys(['the-secret-before', 'the-present-secret']);
export const ID = 'b26153f9';
export const SUCCESS = { status: 200, body: `{"transactionId":"${ID}","transactionTime":"${AT}"}` };

const update = message(bet('update'));
const PLACED: Bet = {
  ...{ ...FRESH, transactionId: ID, owner: SESSION.owner, amount: '12.1', version: 3 },
  place: { kind: 'accepted', transactionTime: 'of the place' },
};
/** For each operation, a bet that has already had it, so that the answer comes from its own record. */
const DONE: Readonly<Record<string, Bet>> = {
  settle: {
    ...PLACED,
    settlement: { kind: 'settled', amount: '12.1', resultType: 'won', transactionTime: AT },
  },
  unsettle: { ...PLACED, settlement: { kind: 'unsettled', transactionTime: AT } },
  rollback: { ...PLACED, rollback: { kind: 'confirmed', transactionTime: AT } },
  update: {
    ...PLACED,
    update: {
      key: update.operation === 'update' ? update.coefficientsKey : '',
      transactionTime: AT,
    },
  },
};

const PLAYER = { token: '"5caa4cabce"', userId: '"1999"', currency: '"USD"' };
const REQUESTS = {
  profile: ['POST', '/user/profile', body({ token: '"5caa4cabce"' })],
  balance: ['POST', '/user/balance', body(PLAYER)],
  place: ['POST', '/payment/bet', body(BETS.place.members)],
  settle: ['PUT', '/payment/bet', body(BETS.settle.members)],
  unsettle: ['PUT', '/payment/bet', body(BETS.unsettle.members)],
  rollback: ['PUT', '/payment/bet', body(BETS.rollback.members)],
  update: ['PUT', '/payment/bet', body(BETS.update.members)],
} as const;
export type Kind = keyof typeof REQUESTS;

interface Scene {
  readonly isAllowed?: boolean;
  /** How many strangers were left out of the log; undefined: this one is left out as well. */
  readonly strangers?: number | undefined;
  readonly logsRead?: boolean;
  readonly isTraced?: boolean;
  /** Replaces the session lookup, for places and reads alike. */
  readonly findSession?: () => Promise<SessionLookup>;
  readonly find?: () => Promise<Bet | undefined>;
  readonly begin?: () => Promise<PlaceBegin>;
  /** What Redis remembers about a place. */
  readonly remembered?: object;
}

/** How a request differs from a good one. */
interface Wire {
  /** Additional members of the smallest message, as raw JSON. */
  readonly members?: Readonly<Record<string, string>>;
  /** Replaces the whole body. */
  readonly body?: Buffer;
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
  readonly spentMs?: number;
}

/** The callback routes, with parts that behave as the test says. */
export function routesScene(scene: Scene = {}) {
  const clock = new TestClock();
  const counts = { callbacks: vi.fn(), duration: vi.fn(), failures: vi.fn(), others: vi.fn() };
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const span = { traceId: 'the-trace', set: vi.fn(), fail: vi.fn() };
  const spans: SpanOptions[] = [];
  const intents: PlaceIntent[] = [];
  const ends: (() => boolean)[] = [];
  const logsRead = vi.fn(() => scene.logsRead ?? true);
  const strangers = vi.fn(() => ('strangers' in scene ? scene.strangers : 0));
  let asked: Kind = 'place';
  const session = scene.findSession ?? (async () => ({ kind: 'live', session: SESSION }) as const);
  const wallet = {
    ...{ refusal: () => undefined, callerDialect: {} },
    bet: async () => {
      clock.atMs += 12.34;
      return { kind: 'accepted', transactionTime: AT, trace: { sent: true, latencyMs: 12.34 } };
    },
    read: async () => answered('{"userId":"ann","currency":"USD","currencies":["USD"]}'),
  };
  const callbacks = partly<Callbacks>({
    ...{ clock, logger: log, logsRead },
    configuration: () => ({
      gateway: { deadline: { totalMs: 1_000, reserveMs: 300 } },
      operators: new Map([
        ['alpha', { sessions: {}, currencies: ['USD'], wallet: { generation: 1 } }],
      ]),
    }),
    metrics: {
      ...{ callbacks: { inc: counts.callbacks }, callbackDuration: { observe: counts.duration } },
      signatureFailures: { inc: counts.failures },
      ...{ duplicates: { inc: counts.others }, rejected: { inc: counts.others } },
      ...{ rollbacks: { inc: counts.others }, unknownOutcomes: { inc: counts.others } },
    },
    tracing: {
      isOn: scene.isTraced === true,
      span: <T>(options: SpanOptions, work: (span: TraceSpan) => Promise<T>) => {
        spans.push(options);
        return work(span);
      },
    },
    sessions: {
      ...{ route: session, find: session },
      referenceOf: (token: string) => `hash of ${token}`,
      hashOf: (token: string) => Buffer.from(token),
    },
    refusedReads: { limit: () => undefined, note: () => undefined },
    repairedAnswers: { note: () => undefined },
    wallets: { get: () => wallet },
    answers: {
      ...{ remember: async () => undefined, fence: async () => undefined },
      find: async () => scene.remembered,
    },
    bets: {
      find: scene.find ?? (async () => DONE[asked]),
      ...{ operationsUnder: async () => [], recordCopy: async () => true },
      hasPlace: async () => false,
      operationIdOf: async () => undefined,
    },
    changes: { changed: () => undefined },
    liveCalls: new LiveCalls(clock),
    places: {
      begin: async (intent: PlaceIntent, deadline: { hasEnded: boolean }) => {
        intents.push(intent);
        ends.push(() => deadline.hasEnded);
        return await (scene.begin?.() ?? { kind: 'begun', operationId: '7' });
      },
      finish: async () => ({ kind: 'committed' }),
    },
  });
  const edge = partly<CallbackEdge>({
    serviceKeys: () => KEYS,
    isAllowed: (address: string) => address === '192.0.2.1' && scene.isAllowed !== false,
    strangers: { next: strangers },
  });
  const endpoints = callbackEndpoints(callbacks, edge);

  /** Sends a callback, and waits for its answer unless the test does that. */
  function begin(kind: Kind, wire: Wire = {}) {
    asked = kind;
    const [method, url, usual] = REQUESTS[kind];
    const parsed: unknown = JSON.parse(String(usual));
    const whole = wire.members === undefined ? usual : bodyWith(parsed, wire.members);
    const sent = wire.body ?? whole;
    const [trust, told] = [vi.fn(), vi.fn()];
    let hangUp = (): void => undefined;
    const request = {
      ...{ body: sent, ip: '192.0.2.1', trust },
      arrivedAtMs: clock.atMs - (wire.spentMs ?? 0),
      headers: wire.headers ?? { 'x-sign-jws': signatureOf(sent) },
      whenClosed: (ended: () => void) => {
        hangUp = ended;
      },
    };
    const endpoint = endpoints.find((one) => one.method === method && one.path === url);
    const answer = { status: 0, body: '' };
    const handled = endpoint?.answer(request).then((given) => {
      Object.assign(answer, given);
      told();
    });
    return { handled, answer, hangUp: () => hangUp(), trust, told, request };
  }
  const call = async (kind: Kind, wire: Wire = {}) => {
    const { handled, ...rest } = begin(kind, wire);
    await handled;
    return rest;
  };
  return {
    ...{ begin, call, callbacks, clock, counts, log, span, spans },
    ...{ intents, ends, logsRead, strangers },
  };
}

/** Signs with the second secret: each of them is valid. */
export function signatureOf(bytes: Buffer): string {
  const [, present] = KEYS;
  if (present === undefined) throw new Error('no key');
  return sign(bytes, present);
}

function bodyWith(parsed: unknown, members: Readonly<Record<string, string>>): Buffer {
  const usual = Object.entries(Object(parsed)).map(([name, value]) => [
    name,
    JSON.stringify(value),
  ]);
  return body({ ...Object.fromEntries(usual), ...members });
}
