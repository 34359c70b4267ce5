import { expect, it, vi } from 'vitest';
import type { ReadingBack } from '../../../src/bonuses/read-back/reader.ts';
import { settleCreates } from '../../../src/bonuses/read-back/settle-creates.ts';
import type { Account } from '../../../src/bonuses/service/account.ts';
import type { Candidate, OpenCreate } from '../../../src/store/bonuses/open-creates.ts';
import samples from '../../fixtures/samples.json' with { type: 'json' };
import { partly } from '../../support/partly.ts';

const COUNT = 20;
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
  const lookAgain = vi.fn(async () => undefined);
  const reading = partly<ReadingBack>({
    openCreates: { of: async () => creates, candidates: async () => candidates, lookAgain },
  });
  await settleCreates(reading, partly<Account>({ cid: 'cid' }));
  // Nobody can tell which is which: each waits for a person.
  expect(lookAgain.mock.calls).toEqual(creates.map((create) => [create, 2_000, true]));
  // When each was compared with every other create, this grew with the cube.
  expect(comparisons).toBeLessThan(4 * COUNT * COUNT);
});
