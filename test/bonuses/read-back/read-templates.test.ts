import { expect, it } from 'vitest';
import { readTemplates } from '../../../src/bonuses/read-back/read-templates.ts';
import type { ReadingBack } from '../../../src/bonuses/read-back/reader.ts';
import type { BonusApiAnswer } from '../../../src/bonuses/service/answer.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

const FAILS: BonusApiAnswer = { kind: 'failed', error: 'HTTP 500' };
const REFUSED: BonusApiAnswer = {
  ...{ kind: 'refused', status: 400, code: 5, message: 'no such page' },
};
const READ: BonusApiAnswer = {
  kind: 'answered',
  document: parseJsonObject(Buffer.from('{"items":[{"id":9}],"metadata":{"totalPages":5}}')),
};

/** The pages requested one after another, from the third of a walk on, given these answers. */
async function pagesAfter(answers: readonly BonusApiAnswer[]): Promise<readonly number[]> {
  let page = 3;
  const pages: number[] = [];
  const left = [...answers];
  const goTo = async (_: string, next: number) => {
    page = next;
  };
  const reading = partly<ReadingBack>({
    clock: new TestClock(),
    configuration: () => ({ gateway: { service: { bonusTimeoutMs: 1_000 } } }),
    accounts: { all: () => [], kept: () => [], sharing: () => [], byCid: () => ({ cid: 'cid' }) },
    logger: { debug: () => undefined },
    ...{ pausedUntilMs: new Map(), triedInVain: new Map() },
    service: { ask: async () => left.shift() ?? FAILS },
    ownership: { keepCopies: async () => undefined },
    walks: {
      claim: async () => ({ upstreamCid: 'cid', page }),
      advance: goTo,
      postpone: goTo,
    },
  });
  while (left.length > 0) {
    await readTemplates(reading);
    pages.push(page);
  }
  return pages;
}

const fails = (times: number) => Array.from({ length: times }, () => FAILS);

it('a page that does not come is asked for again', async () => {
  expect(await pagesAfter([...fails(149), READ])).toEqual([...Array(149).fill(3), 4]);
});

it('a walk starts again if the service says that there is no such page', async () => {
  expect(await pagesAfter([REFUSED, READ])).toEqual([1, 2]);
});

it('and where it fails there for long: the list may have become shorter', async () => {
  const pages = await pagesAfter([...fails(150), READ, ...fails(149)]);
  expect(pages).toEqual([...Array(149).fill(3), 1, 2, ...Array(149).fill(2)]);
});
