import { describe, expect, it } from 'vitest';
import { batchOf } from '../../src/books/batch.ts';
import type { JournalEntry } from '../../src/store/books/read-statements.ts';
import { turnsDuring } from '../support/others-turns.ts';

const AT = { writtenIn: '7', operationId: '1', number: 1 };

/** A place that its wallet has confirmed, with this text as its message. */
function placed(body: string): JournalEntry {
  const confirmed = {
    transactionId: 'tx-1',
    operatorId: 'alpha',
    playerId: '1',
    operation: 'place' as const,
    body: Buffer.from(body),
    amount: '10',
    currency: 'USD',
    confirmedAt: new Date('2026-11-20T10:00:00.000Z'),
    belongsTo: '2026-11-20',
  };
  return { at: AT, confirmed };
}

describe('the movements of a batch of the journal', () => {
  it.each([
    ['a number', '{"amount":10,"bonusId":7}', true],
    ['a text', '{"amount":10,"bonusId":"7"}', true],
    ['an escaped name', '{"amount":10,"bonus\\u0049d":7}', true],
    ['null', '{"amount":10,"bonusId":null}', false],
    ['no member', '{"amount":10}', false],
    ['null, spaced', '{"amount":10,"bonusId" : null}', false],
    ['null in a member before it', '{"amount":10,"game":{"bonusId":null},"bonusId":7}', true],
    ['null in a member behind it', '{"amount":10,"bonusId":7,"game":{"bonusId":null}}', true],
    [
      'null beside another spelling',
      '{"game":{"bonusId":null},"amount":10,"bonus\\u0049d":7}',
      true,
    ],
    ['null in a text', '{"game":"\\"bonusId\\":null","amount":10,"bonusId":7}', true],
    ['a value of that name', '{"amount":10,"game":"bonusId"}', false],
    ['a member of a member', '{"amount":10,"game":{"bonusId":7}}', false],
  ])('tell a freebet by its bonusId: %s', async (_how, body, isFreebet) => {
    const { movements, unbookable } = await batchOf([placed(body)], [], []);
    expect(unbookable).toEqual([]);
    expect(movements).toMatchObject([{ kind: 'stake', amount: '-10', isFreebet }]);
  });
});

it('thousands of messages are read in slices, and callbacks have their turn (I7)', async () => {
  const many = Array.from({ length: 30_000 }, () => placed('{"amount":10,"bonusId":7}'));
  expect(await turnsDuring(() => batchOf(many, [], []))).toBeGreaterThan(3);
});
