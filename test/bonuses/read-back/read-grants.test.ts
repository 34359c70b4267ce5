import { expect, it, vi } from 'vitest';
import { readGrants } from '../../../src/bonuses/read-back/read-grants.ts';
import type { ReadingBack } from '../../../src/bonuses/read-back/reader.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

const GRANT = {
  ...{ id: '1', intentId: '2', upstreamCid: 'cid', templateId: '3', userId: 'u' },
  ...{ looks: 0, ageMs: 0 },
};

/** A look at this page of a player who has somebody else's bonuses, of so many pages. */
async function lookedAt(page: number, totalPages: number) {
  const lookAgain = vi.fn(async () => undefined);
  const answer = `{"items":[{"id":9,"userId":"u","templateId":8}],"metadata":{"totalPages":${totalPages}}}`;
  const reading = partly<ReadingBack>({
    clock: new TestClock(),
    configuration: () => ({ gateway: { service: { bonusTimeoutMs: 1_000 } } }),
    accounts: { all: () => [{ cid: 'cid' }], byCid: () => ({ cid: 'cid' }) },
    service: {
      ask: async () => ({ kind: 'answered', document: parseJsonObject(Buffer.from(answer)) }),
    },
    grants: { claim: async () => ({ ...GRANT, page }), lookAgain },
  });
  expect(await readGrants(reading)).toBe(true);
  return lookAgain.mock.calls;
}

it('a player’s bonuses are read page by page', async () => {
  expect(await lookedAt(2, 3)).toEqual([['1', { page: 3, looks: 0, delayMs: 0 }]]);
});

it('a service that counts pages without end is not followed: a batch must not stay open for ever', async () => {
  expect(await lookedAt(10_000, 1e12)).toEqual([['1', { page: 1, looks: 1, delayMs: 1_000 }]]);
});
