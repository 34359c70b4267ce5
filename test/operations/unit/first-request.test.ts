import { describe, expect, it } from 'vitest';
import { firstRequest } from '../../../src/operations/first-request.ts';
import { type BetRequest, parseBet } from '../../../src/protocol/messages.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { resultsAmong } from '../../support/recorded-results.ts';

/** The rule itself; test/operations/stable-request-id.test.ts tests what a wallet sees of it. */

const TYPES = { settle: 2, unsettle: 1, rollback: 3, update: 5 } as const;
type Kind = keyof typeof TYPES;

function body(kind: Kind, requestId: string | undefined, amount = 10, resultType = 'won'): Buffer {
  const fields = {
    ...{ transactionId: 't1', userId: 'u1', currency: 'EUR', coefficient: 1.5, amount, requestId },
    ...{ type: TYPES[kind], token: 'a-token-of-nobody' },
    ...(kind === 'settle' ? { resultType } : {}),
  };
  return Buffer.from(JSON.stringify(fields));
}

function messageOf(bytes: Buffer): BetRequest {
  const parsed = parseBet('PUT', bytes);
  if (!parsed.ok) throw new Error(parsed.why);
  return parsed.message;
}

/** An operation as recorded in the journal; `id` is also the number of its requestId. */
function recorded(
  id: number,
  kind: Kind,
  {
    amount,
    isConcluded = false,
    isRefused = false,
    wasSent = true,
    requestId = `r${id}`,
  }: Partial<Record<string, unknown>> = {},
): RecordedOperation {
  return {
    id: String(id),
    operation: kind,
    attemptId: `attempt-${id}`,
    requestId: typeof requestId === 'string' ? requestId : undefined,
    answer: undefined,
    wasSent: wasSent === true,
    body: body(kind, typeof requestId === 'string' ? requestId : undefined, Number(amount ?? 10)),
    isConcluded: isConcluded === true || isRefused === true,
    isRefused: isRefused === true,
  };
}

/** Given oldest first, as people list them. */
const journal = (...operations: readonly RecordedOperation[]) =>
  resultsAmong([...operations].reverse());

/** Of an operation that is not in the journal yet. */
const NEW = { attemptId: 'attempt-new' };

const settle = messageOf(body('settle', 'r-new'));

describe('the first request of a result', () => {
  it('is the oldest of an unbroken row of the same, past updates', async () => {
    const before = journal(
      recorded(1, 'settle', { amount: 20 }),
      recorded(2, 'settle'),
      recorded(3, 'update'),
      recorded(4, 'settle', { amount: '10.00' }),
    );
    expect(await firstRequest(before, settle, NEW)).toEqual({ requestId: 'r2', inBody: '"r2"' });
  });

  it.each([
    ['another amount', recorded(2, 'settle', { amount: 11 })],
    ['an unsettle', recorded(2, 'unsettle')],
    ['an answer of the wallet', recorded(2, 'settle', { isConcluded: true })],
  ])('is its own after %s', async (_, between) => {
    expect(
      await firstRequest(journal(recorded(1, 'settle'), between), settle, NEW),
    ).toBeUndefined();
  });

  it.each([
    ['another result', recorded(2, 'settle', { amount: 11 })],
    ['an answer of the wallet', recorded(2, 'settle', { isConcluded: true, requestId: 'r-new' })],
  ])(
    'is its own even under a requestId from before %s, which the wallet knows',
    async (_, between) => {
      const known = recorded(1, 'settle', { requestId: 'r-new' });
      const fresh = { requestId: 'attempt-new', inBody: '"attempt-new"' };
      expect(await firstRequest(journal(known, between), settle, NEW)).toEqual(fresh);
      const again = journal(known, between, recorded(3, 'settle', { requestId: 'r-new' }));
      const third = { requestId: 'attempt-3', inBody: '"attempt-3"' };
      expect(await firstRequest(again, settle, NEW)).toEqual(third);
      expect(await firstRequest(again, settle, { operationId: '3' })).toEqual(third);
    },
  );

  it('is looked for no further back than the row goes, however many results the bet has had (I7)', async () => {
    const all = journal(
      ...Array.from({ length: 1_000 }, (_, at) => recorded(at, 'settle', { amount: at + 20 })),
      ...[recorded(1_000, 'settle'), recorded(1_001, 'settle')],
    );
    let read = 0;
    async function* resultsOf(transactionId: string, before?: string) {
      for await (const result of all.resultsOf(transactionId, before)) {
        read += 1;
        yield result;
      }
    }
    expect(await firstRequest({ ...all, resultsOf }, settle, NEW)).toMatchObject({
      requestId: 'r1000',
    });
    expect(read).toBe(3);
  });

  it('ends at what cannot be read, rather than guessing past it', async () => {
    const broken = { ...recorded(2, 'settle'), body: Buffer.from('{') };
    expect(await firstRequest(journal(recorded(1, 'settle'), broken), settle, NEW)).toBeUndefined();
  });
});

describe('the first request of an unsettle', () => {
  const unsettle = messageOf(body('unsettle', 'r-new'));

  it('is the oldest of an unbroken row of unsettles', async () => {
    const row = journal(recorded(1, 'unsettle'), recorded(2, 'unsettle'));
    expect(await firstRequest(row, unsettle, NEW)).toMatchObject({ requestId: 'r1' });
    const broken = journal(recorded(1, 'unsettle'), recorded(2, 'settle'));
    expect(await firstRequest(broken, unsettle, NEW)).toBeUndefined();
  });

  it('is never that of the place, whose bytes by PUT would be an unsettle (I10)', async () => {
    const place: RecordedOperation = { ...recorded(1, 'unsettle'), operation: 'place' };
    expect(await firstRequest(journal(place), unsettle, NEW)).toBeUndefined();
    const after = journal(place, recorded(2, 'unsettle'));
    expect(await firstRequest(after, unsettle, NEW)).toMatchObject({ requestId: 'r2' });
  });
});

describe('the first request of a rollback or update', () => {
  it.each(['rollback', 'update'] as const)(
    'is its own: each %s is sent on by itself',
    async (kind) => {
      const message = messageOf(body(kind, 'r2'));
      const all = journal(recorded(1, kind), recorded(2, kind));
      expect(await firstRequest(all, message, { operationId: '2' })).toMatchObject({
        requestId: 'r2',
      });
      expect(await firstRequest(all, message, NEW)).toBeUndefined();
    },
  );
});
