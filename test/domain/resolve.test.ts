import { describe, expect, it } from 'vitest';
import type { Bet, OpenDelivery } from '../../src/domain/bet.ts';
import { decideResolve } from '../../src/domain/resolve.ts';
import { FRESH } from './support/fresh-bet.ts';

const AT = '2026-03-05T11:08:00.000Z';
const RESULT = { kind: 'result', amount: '20.00', resultType: 'won' } as const;
const DOUBTFUL: Bet = {
  ...FRESH,
  place: { kind: 'accepted', transactionTime: AT },
  settlement: { kind: 'unknown', attempted: { kind: 'several' } },
};
const PENDING: OpenDelivery = { id: '7', operation: 'unsettle', attempts: 1, transactionTime: AT };
const decide = (changes: Partial<Bet>) => decideResolve({ ...DOUBTFUL, ...changes }, RESULT, AT);

describe('a doubt that a person ends', () => {
  it('leaves the bet with the result that its wallet holds, or with none', () => {
    expect(decide({})).toEqual({
      kind: 'resolve',
      settlement: { kind: 'settled', amount: '20.00', resultType: 'won', transactionTime: AT },
    });
    expect(decideResolve(DOUBTFUL, { kind: 'stake' }, AT)).toEqual({
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

  it.each(['settle', 'unsettle', 'rollback'] as const)(
    'is none while a %s is in flight, also of a process that is gone (I5)',
    (operation) => {
      for (const lapsed of [false, true]) {
        const waits = decide({ busy: { operation, attemptId: 'a', lapsed } });
        expect(waits).toMatchObject({ kind: 'refused', why: expect.stringContaining(operation) });
      }
    },
  );

  it('is none while a result waits to be delivered, but an update or a confirmation is no answer to it', () => {
    const waits = decide({ deliveries: [PENDING] });
    expect(waits).toMatchObject({ kind: 'refused', why: expect.stringContaining('unsettle') });
    const update = decide({ deliveries: [{ ...PENDING, operation: 'update' }] });
    expect(update).toMatchObject({ kind: 'resolve' });
    for (const operation of ['update', 'confirm'] as const) {
      const busy = { operation, attemptId: 'a', lapsed: false };
      expect(decide({ busy })).toMatchObject({ kind: 'resolve' });
    }
  });
});
