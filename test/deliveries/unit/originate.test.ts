import { describe, expect, it, vi } from 'vitest';
import { type Originating, originateRollbacks } from '../../../src/deliveries/originate.ts';
import type { Bet } from '../../../src/domain/bet.ts';
import { askedBy } from '../../../src/store/bets/asked-by.ts';
import type { Commit } from '../../../src/store/bets/commit.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

/** Which places the gateway rolls back by itself, and how; `unknown.test.ts` tests what wallets make of it. */

const UNKNOWN: Bet = { ...FRESH, place: { kind: 'unknown' }, version: 2 };
const PLACE = {
  ...{ ...BETS.place.members, requestId: '"r1"', amount: '12.10', coefficient: '1.20' },
  ...{ ip: '"1.2.3.4"', info: '"a"', subPartnerId: 'null', metadata: '[{}]', bonusAmount: '1' },
};
const DAY = { horizonHours: 24, originateRollbackAfterMs: 600_000 };

/** Overdue places by their ids, as the store returns them, and what happens to each. */
function originatingOf(
  bets: Readonly<Record<string, Bet | undefined>>,
  committed: readonly string[] = [],
) {
  const order: string[] = [];
  const commits: Commit[] = [];
  const kinds = [...committed];
  const overdueUnknown = vi.fn(async () =>
    Object.keys(bets).map((transactionId) => ({ transactionId, body: body(PLACE) })),
  );
  const commit = vi.fn(async (wanted: Commit) => {
    order.push(`commit ${wanted.from.transactionId}`);
    commits.push(wanted);
    return { kind: kinds.shift() ?? 'committed' };
  });
  const logger = { warn: vi.fn() };
  const originating = partly<Originating>({
    ...{ clock: new TestClock(), logger, store: { overdueUnknown } },
    configuration: () => ({
      gateway: { delivery: { ...DAY, horizonHours: 72 } },
      operators: new Map([
        ['alpha', { id: 'alpha', delivery: DAY }],
        ['beta', { id: 'beta', delivery: { ...DAY, originateRollbackAfterMs: 5_000 } }],
      ]),
    }),
    bets: { find: async (id: string) => bets[id], commit },
    answers: { fence: async (id: string) => order.push(`fence ${id}`) },
  });
  return { originating, overdueUnknown, commit, commits, order, logger };
}

describe('a place of unknown outcome that the service never rolled back', () => {
  it('is looked for after each operator’s own time, this many at once', async () => {
    const { originating, overdueUnknown } = originatingOf({});
    expect(await originateRollbacks(originating)).toBe(0);
    const ages = new Map([
      ['alpha', 600_000],
      ['beta', 5_000],
    ]);
    expect(overdueUnknown.mock.calls).toEqual([[ages, 100]]);
  });

  it('is rolled back by a promise that nobody waits for (I5)', async () => {
    const { originating, commit, commits, logger } = originatingOf({ bet: UNKNOWN });
    expect(await originateRollbacks(originating)).toBe(1);
    const transactionTime = '1970-01-01T00:16:40.000Z';
    const [one] = commits;
    expect(one).toMatchObject({
      from: UNKNOWN,
      to: { ...UNKNOWN, rollback: { kind: 'promised', transactionTime } },
      record: { operation: 'rollback', answer: { status: 200 } },
      delivery: {
        ...{ operation: 'rollback', state: 'pending', transactionTime, horizonMs: 86_400_000 },
      },
      supersedes: [],
    });
    expect(JSON.parse(one?.record.answer?.body ?? '')).toEqual({
      transactionId: 'bet',
      transactionTime,
    });
    expect(askedBy(one?.record.attemptId ?? '')).toBe('gateway');
    expect(commit.mock.calls).toEqual([[one, undefined]]);
    expect(logger.warn.mock.calls).toEqual([
      [
        {
          ...{ operator: 'alpha', transactionId: 'bet' },
          why: 'the service did not roll back a place that was answered 100',
        },
        'delivery.rollback_originated',
      ],
    ]);
  });

  it('is rolled back by what the service would have sent, the place’s bytes kept (I9)', async () => {
    const { originating, commits } = originatingOf({ bet: UNKNOWN });
    await originateRollbacks(originating);
    const text = commits[0]?.record.body.toString() ?? '';
    expect(text).toContain('"amount":12.10');
    const rollback = JSON.parse(text);
    expect(rollback).toEqual({
      ...{ transactionId: 'b26153f9', userId: '1999', amount: 12.1, currency: 'USD' },
      ...{ token: '5caa4cabce', coefficient: 1.2, type: 3, errorCode: 10 },
      requestId: commits[0]?.record.requestId,
    });
    expect(rollback.requestId).toMatch(/^[0-9a-f-]{36}$/);
    expect(rollback.requestId).not.toBe(commits[0]?.record.attemptId);
  });

  it('is fenced before the journal knows, so that no cached answer outlives it (I6)', async () => {
    const { originating, order } = originatingOf({ bet: UNKNOWN });
    await originateRollbacks(originating);
    expect(order).toEqual(['fence bet', 'commit bet']);
  });
});

describe('a place that looked overdue', () => {
  const promised: Bet['rollback'] = { kind: 'promised', transactionTime: 'then' };
  const busy = { operation: 'rollback', attemptId: 'a', lapsed: false } as const;
  it.each<[string, Bet | undefined]>([
    ['is not there any more', undefined],
    ['belongs to nobody', { ...UNKNOWN, owner: undefined }],
    ['is rolled back by the service meanwhile', { ...UNKNOWN, rollback: promised }],
    ['is just being rolled back by the service', { ...UNKNOWN, busy }],
    ['turned out never to have been sent', { ...UNKNOWN, place: { kind: 'notSent' } }],
  ])('is left alone where it %s', async (_, bet) => {
    const { originating, commits, order } = originatingOf({ bet });
    expect(await originateRollbacks(originating)).toBe(0);
    expect([commits, order]).toEqual([[], []]);
  });
});
