import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BetJournal } from '../../../src/store/bets/journal.ts';
import { ampleDeadline, openTestJournal, type TestJournal } from '../../support/journal.ts';

let journal: TestJournal;
let bets: BetJournal;
beforeAll(async () => {
  journal = await openTestJournal();
  bets = new BetJournal(journal.database, journal.clock);
});
afterAll(() => journal.close());

/** Puts a settle on record that was answered with its own body. */
async function record(transactionId: string, requestId: string | undefined, body: string) {
  const { operatorId } = journal.owner;
  const answer = { status: 200, body };
  const copy = { requestId, body: Buffer.from(body), answer, attemptId: randomUUID() };
  const settle = { operation: 'settle', ...copy } as const;
  expect(await bets.recordCopy({ transactionId, operatorId }, settle, ampleDeadline())).toBe(true);
}

it('finds what one bet was asked for under one requestId, the newest first', async () => {
  const [bet, other] = [randomUUID(), randomUUID()];
  await record(bet, 'one', '{"n":1}');
  await record(bet, 'another', '{"n":2}');
  await record(bet, undefined, '{"n":3}');
  await record(other, 'one', '{"n":4}');
  await record(bet, 'one', '{"n":5}');
  const under = (requestId: string) => bets.operationsUnder({ transactionId: bet, requestId });
  expect(await under('one')).toMatchObject([
    { requestId: 'one', body: Buffer.from('{"n":5}'), answer: { status: 200, body: '{"n":5}' } },
    { requestId: 'one', body: Buffer.from('{"n":1}') },
  ]);
  expect(await under('none')).toEqual([]);
  expect(await bets.operationsOf(bet)).toHaveLength(4);
});
