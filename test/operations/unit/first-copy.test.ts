import { describe, expect, it, vi } from 'vitest';
import { askForSame } from '../../../src/domain/asked.ts';
import { answerOfFirst } from '../../../src/operations/bet-callback.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { BETS, bet, body, message } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';

const settle = (changes: Readonly<Record<string, string>> = {}) => message(bet('settle', changes));
const update = (coefficient: string) => message(bet('update', { coefficient }));
describe('two operations of a bet', () => {
  it('ask for the same where result and amount are the same, however it is spelled (I9)', () => {
    expect(askForSame(settle(), settle({ amount: '12.1', requestId: '"another"' }))).toBe(true);
    expect(askForSame(settle(), settle({ amount: '12.11' }))).toBe(false);
    expect(askForSame(settle(), settle({ resultType: '"lost"' }))).toBe(false);
  });

  it('ask for the same where the odds are, of two updates', () => {
    expect(askForSame(update('1.2'), update('1.2'))).toBe(true);
    expect(askForSame(update('1.2'), update('1.3'))).toBe(false);
  });
});

describe('a copy that has waited', () => {
  const ANSWER = { status: 400, body: '{"code":7,"message":"No"}' };
  const recorded = (first: unknown) => {
    const answerOf = vi.fn(async () => first);
    return { answerOf, callbacks: partly<Callbacks>({ bets: { answerOf } }) };
  };
  const bytes = (changes: Readonly<Record<string, string>> = {}) =>
    body({ ...BETS.settle.members, ...changes });

  it('gets the answer of the first, asked for by its attempt (I3)', async () => {
    const { callbacks, answerOf } = recorded({ body: bytes(), answer: ANSWER });
    expect(await answerOfFirst(callbacks, settle(), 'attempt')).toBe(ANSWER);
    expect(answerOf.mock.calls).toEqual([[{ transactionId: 'b26153f9', attemptId: 'attempt' }]]);
  });

  it.each([
    ['nothing is on record', undefined],
    ['nobody was told how the first ended', { body: bytes(), answer: undefined }],
    ['the first was another result', { body: bytes({ amount: '1' }), answer: ANSWER }],
    ['the first cannot be read', { body: Buffer.from('{'), answer: ANSWER }],
  ])('gets none where %s', async (_, first) => {
    const { callbacks } = recorded(first);
    expect(await answerOfFirst(callbacks, settle(), 'attempt')).toBeUndefined();
  });
});
