import { describe, expect, it } from 'vitest';
import type { Asked } from '../../src/domain/asked.ts';
import type { Bet, OpenDelivery } from '../../src/domain/bet.ts';
import { decideResolve, promisedAmong } from '../../src/domain/resolve.ts';
import { FRESH } from './support/fresh-bet.ts';

const AT = '2026-03-05T11:08:00.000Z';
const RESULT = { kind: 'result', amount: '20.00', resultType: 'won' } as const;
const DOUBTFUL: Bet = {
  ...FRESH,
  place: { kind: 'accepted', transactionTime: AT },
  settlement: { kind: 'unknown', attempted: { kind: 'several' } },
};
const PENDING: OpenDelivery = {
  id: '7',
  operationId: '7',
  operation: 'unsettle',
  attempts: 1,
  transactionTime: AT,
};
const HOUR_MS = 3_600_000;
const NOW = { nowMs: 10_000_000, promised: [], lateMsMax: HOUR_MS, transactionTime: AT };
const decide = (changes: Partial<Bet>, at: Partial<typeof NOW> = {}) =>
  decideResolve({ ...DOUBTFUL, ...changes }, RESULT, { ...NOW, ...at });

describe('a doubt that a person ends', () => {
  it('leaves the bet with the result that its wallet holds, or with none', () => {
    expect(decide({})).toEqual({
      kind: 'resolve',
      settlement: { kind: 'settled', amount: '20.00', resultType: 'won', transactionTime: AT },
    });
    expect(decideResolve(DOUBTFUL, { kind: 'stake' }, NOW)).toEqual({
      kind: 'resolve',
      settlement: { kind: 'unsettled', transactionTime: AT },
    });
  });

  it.each(['none', 'unsettled'] as const)('is none where the result is %s (I3)', (kind) => {
    const known = decide({ settlement: { kind, transactionTime: AT } });
    expect(known).toMatchObject({ kind: 'refused', why: expect.stringContaining('not unknown') });
  });

  it.each(['promised', 'confirmed'] as const)('is none under a %s rollback (I6)', (kind) => {
    const over = decide({ rollback: { kind, transactionTime: AT } });
    expect(over).toMatchObject({ kind: 'refused', why: expect.stringContaining('rolled back') });
  });

  it.each(['settle', 'unsettle', 'rollback', 'confirm'] as const)(
    'is none while a %s is in flight, also of a process that is gone (I5)',
    (operation) => {
      for (const lapsed of [false, true]) {
        const waits = decide({ busy: { operation, attemptId: 'a', lapsed } });
        expect(waits).toMatchObject({ kind: 'refused', why: expect.stringContaining(operation) });
      }
    },
  );

  it('is none while a result waits to be delivered, but an update is no answer to it', () => {
    const waits = decide({ deliveries: [PENDING] });
    expect(waits).toMatchObject({ kind: 'refused', why: expect.stringContaining('unsettle') });
    const update = decide({ deliveries: [{ ...PENDING, operation: 'update' }] });
    expect(update).toMatchObject({ kind: 'resolve' });
    const busy = { operation: 'update', attemptId: 'a', lapsed: false } as const;
    expect(decide({ busy })).toMatchObject({ kind: 'resolve' });
  });

  it('is none where the service was answered 200: that result is owed (I4)', () => {
    const owed = decideResolve(DOUBTFUL, { kind: 'stake' }, { ...NOW, promised: ['17'] });
    expect(owed).toMatchObject({ kind: 'refused', why: expect.stringContaining('delivery 17') });
  });

  it('is none while a lost call may still land, and says how long that may be (I5)', () => {
    const operation = { kind: 'unsettle' } as const;
    const late = { operation, atMs: NOW.nowMs, confirmationsLeft: 1, isConfirming: false };
    const why = expect.stringContaining('until 1970-01-01T03:46:40.000Z at the latest');
    expect(decide({ late }, { nowMs: NOW.nowMs + HOUR_MS - 1 })).toEqual({ kind: 'refused', why });
    expect(decide({ late }, { nowMs: NOW.nowMs + HOUR_MS })).toMatchObject({ kind: 'resolve' });
  });
});

describe('a dead letter', () => {
  const settle = { operation: 'settle', amount: '5', resultType: 'won' } as const;
  const result = (
    operationId: string,
    answerStatus: number,
    asked: Asked | undefined = settle,
  ) => ({
    ...{ operationId, answerStatus, asked },
  });
  const dead = [{ id: '1', operationId: '7' }];

  it('was promised if the service was answered 200 for it, or for its copy', () => {
    expect(promisedAmong(dead, [result('7', 200)])).toEqual(['1']);
    expect(promisedAmong(dead, [result('8', 200), result('7', 503)])).toEqual(['1']);
  });

  it('was not by what came before it, by another result, or by a 503', () => {
    const other = { ...settle, amount: '6' };
    const since = [result('8', 200, other), result('8', 503), result('7', 503), result('6', 200)];
    expect(promisedAmong(dead, since)).toEqual([]);
  });

  it('counts as promised if it cannot be read', () => {
    expect(promisedAmong(dead, [result('8', 503)])).toEqual(['1']);
    expect(promisedAmong(dead, [{ ...result('7', 503), asked: undefined }])).toEqual(['1']);
  });
});
