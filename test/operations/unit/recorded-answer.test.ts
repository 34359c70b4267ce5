import { describe, expect, it, vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import type { Handled } from '../../../src/operations/answers.ts';
import type { BetCallback } from '../../../src/operations/bet-callback.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { firstCashout } from '../../../src/operations/first-request.ts';
import { onRecord, recordedAnswer } from '../../../src/operations/recorded-answer.ts';
import type {
  SettleRequest,
  UnsettleRequest,
  UpdateRequest,
} from '../../../src/protocol/messages.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { BETS, bet, body, message } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

type Kind = 'settle' | 'unsettle' | 'update';
const ID = '"r1"';
const ANSWER = { status: 200, body: '{"the":"first"}' };
const SETTLED: Bet = { ...FRESH, place: { kind: 'accepted', transactionTime: 'then' }, version: 4 };

function recorded(changes: Partial<RecordedOperation> = {}): RecordedOperation {
  const { operation = 'settle' } = changes;
  return {
    ...{ id: '1', operation, attemptId: 'a1', requestId: 'r1' },
    body: body({ ...BETS[operation].members, requestId: ID }),
    ...{ answer: ANSWER, wasSent: true, isConcluded: true, isRefused: false },
    ...changes,
  };
}

/** An operation under way, of a bet that has this on record under any `requestId`. */
function callbackOf(
  kind: Kind,
  records: readonly RecordedOperation[],
  changes: Readonly<Record<string, string | undefined>> = { requestId: ID },
) {
  const asked = message(bet(kind, changes));
  const under = vi.fn(async ({ requestId }: { readonly requestId: string }) =>
    records.filter((one) => one.requestId === requestId),
  );
  const recordCopy = vi.fn(async () => true);
  const hasPlace = vi.fn(async ({ requestId }: { readonly requestId: string | undefined }) =>
    records.some((one) => one.operation === 'place' && one.requestId === requestId),
  );
  const callback = {
    message: asked,
    transactionId: asked.transactionId,
    stored: Buffer.from('as it is kept'),
    deadline: new Deadline(new TestClock(), 1_000, 60_000, 300),
    callbacks: {
      bets: { operationsUnder: under, operationsOf: async () => records, recordCopy, hasPlace },
    },
    repeated: (_: Bet, answer: unknown) => ({ repeated: answer }),
    conflict: (operatorId: string, why: string) => ({ conflict: why, operatorId }),
  };
  type Own = BetCallback<SettleRequest> | BetCallback<UnsettleRequest> | BetCallback<UpdateRequest>;
  return { callback: partly<Own>(callback), under, recordCopy, hasPlace };
}

describe('an operation whose requestId is on record', () => {
  it.each(['settle', 'unsettle', 'update'] as const)(
    'gets the first answer again: a %s (I3)',
    async (operation) => {
      const { callback, under } = callbackOf(operation, [recorded({ operation })]);
      expect(await recordedAnswer(callback, SETTLED)).toEqual({ repeated: ANSWER });
      expect(under.mock.calls).toEqual([[{ transactionId: 'b26153f9', requestId: 'r1' }]]);
    },
  );

  it.each([
    ['it was answered 503', recorded({ answer: { status: 503, body: '' } })],
    ['nobody was answered', recorded({ answer: undefined })],
    [
      'it asked for another result',
      recorded({ body: body({ ...BETS.settle.members, amount: '1' }) }),
    ],
    ['it cannot be read', recorded({ body: Buffer.from('{') })],
    ['it was the place', recorded({ operation: 'place' })],
    ['it is another requestId', recorded({ requestId: 'r2' })],
  ])('is new where %s', async (_, first) => {
    const { callback } = callbackOf('settle', [first]);
    expect(await recordedAnswer(callback, SETTLED)).toBeUndefined();
  });

  it('gets a refusal again as well, even after an answer 503', async () => {
    const refusal = { status: 499, body: '{"code":7}' };
    const tried = recorded({ answer: { status: 500, body: '' } });
    const { callback } = callbackOf('settle', [tried, recorded({ answer: refusal })]);
    expect(await recordedAnswer(callback, SETTLED)).toEqual({ repeated: refusal });
  });

  it('is a conflict where it is an unsettle with the requestId of the place (I10)', async () => {
    const place = recorded({ operation: 'place' });
    const { callback } = callbackOf('unsettle', [place]);
    expect(await recordedAnswer(callback, SETTLED)).toEqual({
      conflict: 'it is the request of its place',
      operatorId: 'alpha',
    });
    const tried = recorded({ operation: 'unsettle', answer: { status: 503, body: '' } });
    const nobodys = callbackOf('unsettle', [tried, place]);
    expect(await recordedAnswer(nobodys.callback, { ...SETTLED, owner: undefined })).toEqual({
      conflict: 'it is the request of its place',
      operatorId: undefined,
    });
    const settle = callbackOf('settle', [place]);
    expect(await recordedAnswer(settle.callback, SETTLED)).toBeUndefined();
  });
});

describe('the journal is not asked', () => {
  const busy: Bet['busy'] = { operation: 'settle', attemptId: 'a', lapsed: false };
  it.each<[string, Kind, Partial<Bet>, boolean]>([
    ['of the first settle of a bet', 'settle', { version: 2 }, false],
    ['of the first update of a bet', 'update', { version: 2 }, false],
    ['of a bet that is not known', 'unsettle', { version: 0 }, false],
    [
      'but for one whose place was never seen',
      'settle',
      { version: 2, place: { kind: 'unseen' } },
      true,
    ],
    ['of the first unsettle of a bet', 'unsettle', { version: 2 }, false],
    ['but for a settle that would get the answer of another one', 'settle', { busy }, true],
    ['but for an unsettle that would get the answer of another one', 'unsettle', { busy }, true],
    ['but for an update that would be taken over', 'update', { busy }, true],
    ['but for what follows', 'settle', { version: 3 }, true],
  ])('%s', async (_, kind, changes, isAsked) => {
    const { callback, under } = callbackOf(kind, []);
    await recordedAnswer(callback, { ...SETTLED, ...changes });
    expect(under.mock.calls.length > 0).toBe(isAsked);
  });

  it('but for the bytes of an unsettle without one, also of the first: they may be its place’s', async () => {
    const place = recorded({ operation: 'place', requestId: undefined });
    const { callback, under, hasPlace } = callbackOf('unsettle', [place], {});
    expect(await recordedAnswer(callback, { ...SETTLED, version: 2 })).toMatchObject({
      conflict: 'it is the request of its place',
    });
    expect(hasPlace.mock.calls[0]?.[0]).toMatchObject({ body: Buffer.from('as it is kept') });
    expect(under).not.toHaveBeenCalled();
  });
});

describe('a copy that is answered from the journal', () => {
  const handled = (changes: Partial<Handled> = {}): Handled => ({
    answer: ANSWER,
    outcome: 'duplicate',
    operatorId: 'alpha',
    ...changes,
  });

  it('is put on record with its answer before that leaves', async () => {
    const { callback, recordCopy } = callbackOf('settle', []);
    expect(await onRecord(callback, handled())).toEqual(handled());
    expect(recordCopy.mock.calls).toEqual([
      [
        { transactionId: 'b26153f9', operatorId: 'alpha' },
        {
          operation: 'settle',
          attemptId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          requestId: 'r1',
          body: Buffer.from('as it is kept'),
          answer: ANSWER,
        },
        callback.deadline,
      ],
    ]);
  });

  it.each([
    ['it is on record already', [recorded()], handled()],
    ['it is no copy', [], handled({ outcome: 'accepted' })],
    ['it is to be repeated', [], handled({ answer: { status: 500, body: '' } })],
  ])('is not put on record where %s', async (_, records, answered) => {
    const { callback, recordCopy } = callbackOf('settle', records);
    expect(await onRecord(callback, answered)).toBe(answered);
    expect(recordCopy).not.toHaveBeenCalled();
  });

  it('is not answered when its time was over before it was written (I11)', async () => {
    const { callback, recordCopy } = callbackOf('settle', []);
    recordCopy.mockResolvedValue(false);
    await expect(onRecord(callback, handled())).rejects.toThrow(
      expect.objectContaining({ name: 'OutOfTime' }),
    );
  });
});

describe('the token that a cashout of unknown outcome was first sent with', () => {
  const cashout = (token: string, changes: Partial<RecordedOperation> = {}) => {
    const members = { ...BETS.settle.members, resultType: '"cashout"', token };
    return recorded({ body: body(members), isConcluded: false, ...changes });
  };
  const again = message(bet('settle', { resultType: '"cashout"', token: '"new"' }));
  const first = async (...newestFirst: readonly RecordedOperation[]) => {
    if (again.operation !== 'settle') throw new Error('no settle');
    const callbacks = partly<Callbacks>({ bets: { operationsOf: async () => newestFirst } });
    return await firstCashout(callbacks.bets, again);
  };

  it('is that of the oldest attempt that a wallet may have seen and whose end is unknown', async () => {
    expect(await first(cashout('"second"'), cashout('"first"'))).toBe('first');
    expect(await first(cashout('"second"'), cashout('"first"', { wasSent: false }))).toBe('second');
    expect(await first(cashout('"second"'), cashout('"first"', { isConcluded: true }))).toBe(
      'second',
    );
  });
});
