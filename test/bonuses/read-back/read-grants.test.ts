import { expect, it, vi } from 'vitest';
import { readGrants } from '../../../src/bonuses/read-back/read-grants.ts';
import type { ReadingBack } from '../../../src/bonuses/read-back/reader.ts';
import type { BonusApiAnswer } from '../../../src/bonuses/service/answer.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

const GRANT = {
  ...{ id: '1', intentId: '2', upstreamCid: 'cid', templateId: '3', userId: 'u' },
  ...{ looks: 0, ageMs: 0 },
};

const TOO_OFTEN = { kind: 'refused', status: 429, code: 10, message: undefined } as const;

/** One of this many pages of a player who has somebody else's bonuses. */
function pageOf(totalPages: number | string): BonusApiAnswer {
  const text = `{"items":[{"id":9,"userId":"u","templateId":8}],"metadata":{"totalPages":${JSON.stringify(totalPages)}}}`;
  return { kind: 'answered', document: parseJsonObject(Buffer.from(text)) };
}

/** Looks at this page, which the service answers like this. */
async function lookedAt(page: number, answer: BonusApiAnswer) {
  const readAgain = vi.fn(async () => undefined);
  const reading = partly<ReadingBack>({
    clock: new TestClock(),
    configuration: () => ({ gateway: { service: { bonusTimeoutMs: 1_000 } } }),
    accounts: { all: () => [{ cid: 'cid' }], byCid: () => ({ cid: 'cid' }) },
    logger: { debug: () => undefined },
    pausedUntilMs: new Map(),
    service: { ask: async () => answer },
    grants: { claim: async () => ({ ...GRANT, page }), readAgain },
  });
  expect(await readGrants(reading)).toBe(true);
  return readAgain.mock.calls;
}

it.each([3, '3'])('a player’s bonuses are read page by page, of %j in all', async (totalPages) => {
  expect(await lookedAt(2, pageOf(totalPages))).toEqual([['1', { page: 3, looks: 0, delayMs: 0 }]]);
});

it('a service that counts pages without end is not followed: a batch must not stay open for ever', async () => {
  expect(await lookedAt(10_000, pageOf(1e12))).toEqual([
    ['1', { page: 1, looks: 1, delayMs: 1_000 }],
  ]);
});

it.each([
  [7, 7_000],
  // Else its batches would stay open for days.
  [3 * 86_400, 600_000],
])(
  'an account whose service asks for %i seconds of patience is left alone for %i ms, and others are not',
  async (retryAfterSeconds, ms) => {
    const clock = new TestClock();
    const claim = vi.fn(async (_cids: readonly string[]) => ({ ...GRANT, page: 1 }));
    const reading = partly<ReadingBack>({
      clock,
      logger: { debug: () => undefined },
      pausedUntilMs: new Map(),
      configuration: () => ({ gateway: { service: { bonusTimeoutMs: 1_000 } } }),
      accounts: {
        all: () => [{ cid: 'cid' }, { cid: 'other' }],
        byCid: (cid: string) => ({ cid }),
      },
      service: { ask: async () => ({ ...TOO_OFTEN, retryAfterSeconds }) },
      grants: { claim, readAgain: async () => undefined },
    });
    const claimed = async () => {
      await readGrants(reading);
      return claim.mock.lastCall?.[0];
    };
    expect(await claimed()).toEqual(['cid', 'other']);
    expect(await claimed()).toEqual(['other']);
    clock.atMs += ms;
    expect(await claimed()).toEqual(['cid', 'other']);
  },
);

it.each([
  ['is refused', { kind: 'refused', status: 400, code: 5, message: 'no such page' }, 1],
  ['is missing with HTTP 200', { kind: 'failed', error: '', instead: { code: 5 } }, 1],
  ['comes too often', TOO_OFTEN, 3],
  ['fails', { kind: 'failed', error: 'HTTP 500' }, 3],
  ['gets no answer', { kind: 'silent', error: 'timeout' }, 3],
] as const)('where a page %s the reading goes on where it may come', async (_, answer, page) => {
  expect(await lookedAt(3, answer)).toEqual([['1', { page, looks: 0, delayMs: 2_000 }]]);
});
