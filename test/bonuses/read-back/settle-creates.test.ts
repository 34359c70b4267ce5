import { expect, it, vi } from 'vitest';
import type { ReadingBack } from '../../../src/bonuses/read-back/reader.ts';
import { settleCreates } from '../../../src/bonuses/read-back/settle-creates.ts';
import type { Account } from '../../../src/bonuses/service/account.ts';
import type { Candidate, OpenCreate } from '../../../src/store/bonuses/open-creates.ts';
import samples from '../../fixtures/samples.json' with { type: 'json' };
import { partly } from '../../support/partly.ts';

const COUNT = 20;
const WALK = { upstreamCid: 'cid', page: 1, leaseUntil: 'later' };
const { request, response } = samples.templatesAdd;

it('compares each open create with each template once, however alike they all are (I7)', async () => {
  let comparisons = 0;
  const candidates = Array.from({ length: COUNT }, (_, at): Candidate => {
    const id = at + 100;
    return {
      item: JSON.stringify({ ...response, id }),
      assignedTo: undefined,
      get templateId() {
        comparisons += 1;
        return String(id);
      },
    };
  });
  const creates = Array.from(
    { length: COUNT },
    (_, at): OpenCreate => ({
      ...{ id: String(at), operatorId: 'alpha', body: JSON.stringify(request), aboveId: '1' },
      ...{ passes: 1, ageMs: 0, isDue: true, ambiguous: true, lookAt: 'then' },
    }),
  );
  const readAgain = vi.fn(async () => undefined);
  const reading = partly<ReadingBack>({
    openCreates: { of: async () => creates, candidates: async () => candidates, readAgain },
  });
  await settleCreates(reading, partly<Account>({ cid: 'cid' }), WALK);
  // Nobody can tell which is which: each waits for a person.
  expect(readAgain.mock.calls).toEqual(creates.map((create) => [create, 2_000, true]));
  // When each was compared with every other create, this grew with the cube.
  expect(comparisons).toBeLessThan(4 * COUNT * COUNT);
});

it('asks a person also where no two of the rival creates are due at the same time', async () => {
  const create = (id: string, isDue: boolean, passes: number): OpenCreate => ({
    ...{ id, operatorId: id, body: JSON.stringify(request), aboveId: '1' },
    ...{ passes, ageMs: 60_000, isDue, ambiguous: false, lookAt: 'then' },
  });
  const candidates: readonly Candidate[] = ['100', '101'].map((templateId) => ({
    item: JSON.stringify({ ...response, id: Number(templateId) }),
    ...{ templateId, assignedTo: undefined },
  }));
  const asked = async (rival: OpenCreate) => {
    const readAgain = vi.fn(
      async (_: OpenCreate, _delayMs: number, _ambiguous: boolean) => undefined,
    );
    const reading = partly<ReadingBack>({
      openCreates: {
        of: async () => [create('alpha', true, 3), rival],
        candidates: async () => candidates,
        readAgain,
      },
      logger: { warn: () => undefined },
    });
    await settleCreates(reading, partly<Account>({ cid: 'cid' }), WALK);
    return readAgain.mock.calls.map(([{ id }, , ambiguous]) => [id, ambiguous]);
  };
  // Each look makes the next one later: the rival's request has long ended, and it is due another time.
  expect(await asked(create('beta', false, 3))).toEqual([['alpha', true]]);
  // Never looked at: its request may be under way, and settle it.
  expect(await asked(create('beta', false, 0))).toEqual([['alpha', false]]);
});

/** Settles creates of a name each, against templates. @returns what was looked at again, failed and taken */
async function settled(creates: readonly OpenCreate[], candidates: readonly Candidate[]) {
  const looks: [string, boolean][] = [];
  const failed: string[] = [];
  const taken: string[] = [];
  const reading = partly<ReadingBack>({
    openCreates: {
      of: async () => creates,
      candidates: async () => candidates,
      readAgain: async ({ id }: OpenCreate, _delayMs: number, ambiguous: boolean) =>
        void looks.push([id, ambiguous]),
    },
    intents: {
      fail: async (id: string) => void failed.push(id),
      finishCreate: async (_: unknown, id: string) => taken.push(id) > 0,
    },
    configuration: () => ({
      gateway: { service: { bonusTimeoutMs: 10_000 } },
      operators: new Map(creates.map(({ operatorId: id }) => [id, { id, api: { cid: id } }])),
    }),
    players: { namesOf: async () => new Map() },
    logger: { warn: () => undefined, info: () => undefined },
  });
  const account = partly<Account>({ cid: 'cid', masked: (text: string) => text });
  await settleCreates(reading, account, WALK);
  return { looks, failed, taken };
}

const createOf = (id: string, passes: number): OpenCreate => ({
  ...{ id, operatorId: id, body: JSON.stringify(request), aboveId: '1' },
  ...{ passes, ageMs: 3_600_000, isDue: true, ambiguous: false, lookAt: 'then' },
});
const TEMPLATE: Candidate = {
  ...{ templateId: '100', assignedTo: undefined },
  item: JSON.stringify({ ...response, id: 100 }),
};

it('gives one template to neither of two operators whose creates it may come from (I8)', async () => {
  const both = [createOf('alpha', 3), createOf('beta', 3)];
  const { looks, taken } = await settled(both, [TEMPLATE]);
  expect([looks, taken]).toEqual([
    [
      ['alpha', true],
      ['beta', true],
    ],
    [],
  ]);
  // Alone, or by a person's word, it is clear.
  expect((await settled([createOf('alpha', 3)], [TEMPLATE])).taken).toEqual(['alpha']);
  const assigned = { ...TEMPLATE, assignedTo: 'beta' };
  expect((await settled(both, [assigned])).taken).toEqual(['beta']);
});

it('gives a create up after a second complete walk only, however old it is: it would be made twice (I5)', async () => {
  expect(await settled([createOf('alpha', 0)], [])).toMatchObject({
    looks: [['alpha', false]],
    failed: [],
  });
  expect(await settled([createOf('alpha', 1)], [])).toMatchObject({ looks: [], failed: ['alpha'] });
});
