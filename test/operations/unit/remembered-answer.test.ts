import { describe, expect, it, vi } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import { OutOfTime } from '../../../src/lib/within.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { answerWithoutJournal } from '../../../src/operations/remembered-answer.ts';
import type { PlaceRequest } from '../../../src/protocol/messages.ts';
import { PLACE } from '../../domain/support/fresh-bet.ts';
import { partly } from '../../support/partly.ts';

const MESSAGE = partly<PlaceRequest>({ ...PLACE, operation: 'place', transactionId: 'bet' });

describe('a copy of a place while PostgreSQL is away', () => {
  const KNOWN = { ...PLACE, operatorId: 'alpha', status: 400, body: '{"code":7}' };
  const remembering = (known: object | undefined) => {
    const [find, duplicates] = [vi.fn(async () => known), vi.fn()];
    const metrics = { duplicates: { inc: duplicates } };
    return { callbacks: partly<Callbacks>({ answers: { find }, metrics }), find, duplicates };
  };
  const away = new GatewayError('DATABASE_UNAVAILABLE', 'away');

  it.each([away, new OutOfTime(5)])('gets what Redis remembers of it (I3)', async (error) => {
    const { callbacks, find, duplicates } = remembering({ ...KNOWN, amount: '10.00' });
    expect(await answerWithoutJournal(callbacks, MESSAGE, error)).toEqual({
      answer: { status: 400, body: '{"code":7}' },
      outcome: 'duplicate',
      operatorId: 'alpha',
    });
    expect(find.mock.calls).toEqual([['bet']]);
    const labels = { operator: 'alpha', operation: 'place', source: 'redis' };
    expect(duplicates.mock.calls).toEqual([[labels]]);
  });

  it.each([
    ['nothing is remembered', undefined],
    ['it was another player’s', { ...KNOWN, userId: 'another' }],
    ['it was in another currency', { ...KNOWN, currency: 'EUR' }],
    ['it had another stake', { ...KNOWN, amount: '10.01' }],
  ])('gets the failure as it came where %s (I10)', async (_, known) => {
    const { callbacks, duplicates } = remembering(known);
    await expect(answerWithoutJournal(callbacks, MESSAGE, away)).rejects.toBe(away);
    expect(duplicates).not.toHaveBeenCalled();
  });
});
