import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { BetJournal } from '../../../src/store/bets/journal.ts';
import { ampleDeadline, openTestJournal, type TestJournal } from '../../support/journal.ts';

let journal: TestJournal;
let bets: BetJournal;
beforeAll(async () => {
  journal = await openTestJournal();
  bets = new BetJournal(journal.database, journal.clock);
});
afterAll(() => journal.close());

/** Records an operation that was answered with its own body; by default a settle. */
async function record(
  transactionId: string,
  requestId: string | undefined,
  body: string,
  status = 200,
  operation: 'place' | 'settle' = 'settle',
) {
  const { operatorId } = journal.owner;
  const answer = { status, body };
  const copy = { requestId, body: Buffer.from(body), answer, attemptId: randomUUID() };
  const kept = { operation, ...copy };
  expect(await bets.recordCopy({ transactionId, operatorId }, kept, ampleDeadline())).toBe(true);
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

it('does not read the repeats that a wallet did not accept, however many there are (I7)', async () => {
  const transactionId = randomUUID();
  for (const body of ['{"n":1}', '{"n":2}', '{"n":3}']) {
    await record(transactionId, 'one', body, 503);
  }
  await record(transactionId, 'one', '{"n":4}', 400);
  expect(await bets.operationsUnder({ transactionId, requestId: 'one' })).toMatchObject([
    { body: Buffer.from('{"n":4}'), answer: { status: 400 } },
  ]);
  expect(await bets.operationsOf(transactionId)).toHaveLength(4);
});

it('reads a bet’s results a few at a time, newest first, and finds one requestId among the older ones (I7)', async () => {
  const transactionId = randomUUID();
  await record(transactionId, 'place', '{"place":1}', 200, 'place');
  for (let n = 1; n <= 45; n += 1) await record(transactionId, `r${n % 2}`, `{"n":${n}}`);
  const run = vi.spyOn(journal.database, 'run');
  const ids: string[] = [];
  const pagesAt: number[] = [];
  for await (const { id, body } of bets.resultsOf(transactionId)) {
    expect(body.toString()).toBe(`{"n":${45 - ids.length}}`);
    ids.push(id);
    pagesAt.push(run.mock.calls.length);
  }
  expect(ids).toHaveLength(45);
  expect([pagesAt[19], pagesAt[20], pagesAt[44]]).toEqual([1, 2, 3]);
  run.mockRestore();
  const [tenth = ''] = ids.slice(9);
  const before: string[] = [];
  for await (const { id } of bets.resultsOf(transactionId, tenth)) before.push(id);
  expect(before).toEqual(ids.slice(10));
  const under = await bets.resultsUnder({ transactionId, requestId: 'r1', upTo: tenth });
  expect(under.map(({ id }) => id)).toEqual(ids.filter((_, at) => at >= 9 && at % 2 === 0));
  expect((await bets.operation({ transactionId, operationId: tenth }))?.body.toString()).toBe(
    '{"n":36}',
  );
  const elsewhere = { transactionId: randomUUID(), operationId: tenth };
  expect(await bets.operation(elsewhere)).toBeUndefined();
});

it('knows whether a wallet may have seen an operation, and whether that concluded it (I5)', async () => {
  const told = async (more: string) => {
    const transactionId = randomUUID();
    await record(transactionId, undefined, '{}');
    const where = `FROM operations WHERE transaction_id = '${transactionId}'`;
    await journal.sql(`${more} ${where}`);
    const [operation] = await bets.operationsOf(transactionId);
    return [operation?.wasSent, operation?.isConcluded];
  };
  const delivery = (state: string, attempts: number) => `
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, attempts,
                            transaction_time, next_attempt_at, dead_at)
    SELECT id, operator_id, transaction_id, operation, '${state}', ${attempts}, '', now(), now()`;
  const attempt = (result: string, confirmed: string, sent = 'true') => `
    INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed, sent)
    SELECT id, 1, now(), 1, '${result}', ${confirmed}, ${sent}`;
  expect(await told('SELECT')).toEqual([false, false]);
  expect(await told(delivery('pending', 0))).toEqual([true, false]);
  expect(await told(delivery('superseded', 0))).toEqual([false, false]);
  // Claimed, but its process was killed before anything of the attempt was written.
  expect(await told(delivery('superseded', 1))).toEqual([true, false]);
  expect(await told(attempt('accepted', 'true'))).toEqual([true, true]);
  // After its lease had ended: it says nothing about the bet.
  expect(await told(attempt('accepted', 'false'))).toEqual([true, false]);
  expect(await told(attempt('timeout', 'false'))).toEqual([true, false]);
  expect(await told(attempt('connection', 'false', 'true'))).toEqual([true, false]);
  expect(await told(attempt('connection', 'false', 'false'))).toEqual([false, false]);
});

it('knows a place by its requestId, and one without by its bytes (I10)', async () => {
  const [bet, other] = [randomUUID(), randomUUID()];
  await record(bet, 'one', '{"n":1}', 200, 'place');
  await record(bet, undefined, '{"n":2}', 200, 'place');
  await record(bet, undefined, '{"n":3}');
  await record(other, undefined, '{"n":4}', 200, 'place');
  const has = (requestId: string | undefined, body: string) =>
    bets.hasPlace({ transactionId: bet, requestId, body: Buffer.from(body) });
  expect(await has('one', '{"n":9}')).toBe(true);
  expect(await has('two', '{"n":1}')).toBe(false);
  expect(await has(undefined, '{"n":2}')).toBe(true);
  await record(bet, undefined, '{"info":"***"}', 200, 'place');
  // Its player has been forgotten since.
  expect(await has(undefined, '{"info":"of ann"}')).toBe(true);
  // Not those of a place with a requestId, of another operation, or of another bet.
  for (const body of ['{"n":1}', '{"n":3}', '{"n":4}']) {
    expect(await has(undefined, body)).toBe(false);
  }
});
