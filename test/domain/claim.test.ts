import { describe, expect, it } from 'vitest';
import type { Bet, Settlement } from '../../src/domain/bet.ts';
import { type DueDelivery, decideClaim, oneOfEachBet } from '../../src/domain/claim.ts';
import { FRESH } from './support/fresh-bet.ts';

const SETTLED: Settlement = {
  kind: 'settled',
  amount: '10',
  resultType: 'won',
  transactionTime: 'then',
};
const UNSETTLED: Settlement = { kind: 'unsettled', transactionTime: 'then' };
const WON = { kind: 'settle', amount: '10.0', resultType: 'won' } as const;

function due(operation: DueDelivery['operation'], changes: Partial<DueDelivery> = {}): DueDelivery {
  return {
    ...{ operation, purpose: 'promise', operationId: '7', attempts: 0, isSentOnceMore: false },
    result: operation === 'unsettle' ? { kind: 'unsettle' } : undefined,
    ...{ hasLaterUpdate: false, followsResolved: false },
    ...changes,
  };
}

const settle = (changes: Partial<DueDelivery> = {}) => due('settle', { result: WON, ...changes });

/** For a wallet of generation 3. */
const decided = (bet: Partial<Bet>, delivery: DueDelivery, skipsUpdates = false) =>
  decideClaim({ ...FRESH, generation: 3, ...bet }, delivery, { generation: 3, skipsUpdates });
const kind = (...of: Parameters<typeof decided>) => decided(...of).kind;

describe('a due delivery of a bet in the books of another wallet', () => {
  const olderMs = 600_000;
  const newerMs = 60_000;
  it.each([
    ['an older wallet waits ten minutes', { generation: 2 }, olderMs],
    ['a newer wallet waits a minute: this process may know it by then', { generation: 4 }, newerMs],
    ['one released past this wallet waits a minute', { released: 3, releasedTo: 4 }, newerMs],
    [
      'no known wallet waits a minute if a newer one was released',
      { generation: 0, released: 4, releasedTo: 4 },
      newerMs,
    ],
  ])('%s (I4)', (_, bet, forMs) => {
    expect(decided(bet, due('rollback'))).toEqual({ kind: 'hold', forMs });
  });

  it('is sent once it was released to this wallet', () => {
    expect(kind({ generation: 2, released: 3, releasedTo: 3 }, due('rollback'))).toBe('send');
  });

  it('is held even if it is obsolete: only its own wallet may end it', () => {
    const update = due('update', { hasLaterUpdate: true });
    expect(kind({ generation: 2 }, update)).toBe('hold');
    expect(kind({ generation: 2 }, update, true)).toBe('hold');
  });

  it('of no known wallet is sent to the configured one', () => {
    expect(kind({ generation: 0 }, due('rollback'))).toBe('send');
  });
});

describe('a rollback', () => {
  it('is always sent, whatever came after it (I6)', () => {
    const rollback = { kind: 'promised', transactionTime: 'then' } as const;
    expect(kind({ rollback, settlement: SETTLED }, due('rollback'))).toBe('send');
  });
});

describe('an update', () => {
  it('is sent while it is the last one', () => {
    expect(kind({}, due('update'))).toBe('send');
  });

  it('is superseded by a later update (I6)', () => {
    expect(kind({}, due('update', { hasLaterUpdate: true }))).toBe('supersede');
  });

  it.each(['promised', 'confirmed'] as const)('is superseded by a %s rollback (I6)', (of) => {
    const rollback = { kind: of, transactionTime: 'then' };
    expect(kind({ rollback }, due('update'))).toBe('supersede');
  });

  it('is superseded where the wallet takes no updates, unlike money', () => {
    expect(kind({}, due('update'), true)).toBe('supersede');
    expect(kind({}, settle(), true)).toBe('send');
  });
});

describe('a result', () => {
  it('is superseded if the wallet holds it already: it could be paid twice (I5)', () => {
    expect(kind({ settlement: SETTLED }, settle())).toBe('supersede');
    expect(kind({ settlement: UNSETTLED }, due('unsettle'))).toBe('supersede');
  });

  it.each([
    ['another amount', { settlement: { ...SETTLED, amount: '11' } }],
    ['another type', { settlement: { ...SETTLED, resultType: 'refund' as const } }],
    ['an unsettled bet', { settlement: UNSETTLED }],
    ['no result', {}],
    ['an unknown result', { settlement: { kind: 'unknown', attempted: WON } as const }],
  ])('is sent over %s', (_, bet) => {
    expect(kind(bet, settle())).toBe('send');
  });

  it('is sent over a settled bet that it unsettles', () => {
    expect(kind({ settlement: SETTLED }, due('unsettle'))).toBe('send');
  });

  it.each([
    ['was attempted before', { attempts: 1 }],
    ['a person had sent again', { isSentOnceMore: true }],
    ['follows a dead letter that a person resolved', { followsResolved: true }],
    ['has no amount on record', { result: undefined }],
  ])('that %s is sent, even if the bet stands so', (_, changes) => {
    expect(kind({ settlement: SETTLED }, settle(changes))).toBe('send');
  });

  it('is sent although it stands, if the bet is rolled back: the rollback comes after it', () => {
    const rollback = { kind: 'promised', transactionTime: 'then' } as const;
    expect(kind({ settlement: SETTLED, rollback }, settle())).toBe('send');
  });
});

describe('a confirmation', () => {
  const confirm = settle({ purpose: 'confirm' });

  it('is sent while its operation stands', () => {
    expect(kind({ settlement: SETTLED, standingOperationId: '7' }, confirm)).toBe('send');
  });

  it('is superseded once another operation stands, or none', () => {
    expect(kind({ settlement: SETTLED, standingOperationId: '8' }, confirm)).toBe('supersede');
    expect(kind({ settlement: SETTLED }, confirm)).toBe('supersede');
  });
});

describe('of one bet', () => {
  const of = (transactionId: string, operation: DueDelivery['operation']) => ({
    transactionId,
    operation,
  });

  it('money is sent before updates, and one at a time (I6)', () => {
    const update = of('a', 'update');
    const money = of('a', 'settle');
    const other = of('b', 'update');
    expect(oneOfEachBet([update, money, other])).toEqual([money, other]);
    expect(oneOfEachBet([money, update])).toEqual([money]);
  });

  it('the first that is due is sent', () => {
    const first = of('a', 'update');
    const second = of('a', 'update');
    expect(oneOfEachBet([first, second])).toEqual([first]);
    expect(oneOfEachBet([first, second])[0]).toBe(first);
  });
});
