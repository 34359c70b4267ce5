import { describe, expect, it, vi } from 'vitest';
import { Deadline } from '../../../src/domain/deadline.ts';
import { OutOfTime } from '../../../src/lib/within.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { recordPlaceCopy } from '../../../src/operations/known-place.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';
import { away, placeOf, SESSION } from '../support/place-scene.ts';

/** The rules, with parts that behave as the test says; test/money-safety/replay-method tests them over HTTP. */

const STORED = Buffer.from('as it is kept');
const ANSWER = { status: 200, body: '{}' };
const OWNED = { ...FRESH, owner: SESSION.owner };
const COPY = placeOf({ requestId: '"of-the-copy"' });

function callbacksOf(isKnown: () => Promise<boolean> = async () => false) {
  const recordCopy = vi.fn(async (_bet: object, _record: object) => true);
  const hasPlace = vi.fn(async (_request: object) => await isKnown());
  const warn = vi.fn();
  const bets = { hasPlace, recordCopy };
  const callbacks = partly<Callbacks>({ bets, logger: { warn } });
  const record = (message = COPY) => {
    const deadline = new Deadline(new TestClock(), 1_000, 60_000, 300);
    return recordPlaceCopy({ callbacks, message, stored: STORED, deadline }, OWNED, ANSWER);
  };
  return { record, recordCopy, hasPlace, warn };
}

describe('a copy of an accepted place', () => {
  it('is on record by its own requestId (I10)', async () => {
    const { record, recordCopy } = callbacksOf();
    await record();
    const [bet, copy] = recordCopy.mock.calls[0] ?? [];
    expect(bet).toEqual({ transactionId: COPY.transactionId, operatorId: 'alpha' });
    const kept = { operation: 'place', requestId: 'of-the-copy', body: STORED, answer: ANSWER };
    expect(copy).toMatchObject(kept);
  });

  it('is known by its bytes where it has no requestId (I10)', async () => {
    const { record, recordCopy, hasPlace } = callbacksOf();
    await record(placeOf());
    expect(hasPlace.mock.calls[0]?.[0]).toMatchObject({ requestId: undefined, body: STORED });
    expect(recordCopy.mock.calls[0]?.[1]).toMatchObject({ requestId: undefined, body: STORED });
  });

  it.each([away, new OutOfTime(5)])('gets its answer if it cannot be written (I3)', async (why) => {
    const { record, warn } = callbacksOf(() => Promise.reject(why));
    await expect(record()).resolves.toBeUndefined();
    const { transactionId } = COPY;
    const facts = { err: why, operator: 'alpha', transactionId };
    expect(warn.mock.calls).toEqual([[facts, 'place.copy_not_recorded']]);
  });
});
