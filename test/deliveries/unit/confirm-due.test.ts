import { describe, expect, it, vi } from 'vitest';
import { type Confirming, confirmDue } from '../../../src/deliveries/confirm.ts';
import type { Bet } from '../../../src/domain/bet.ts';
import type { RecordedOperation } from '../../../src/store/bets/journal.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { BETS, body } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';

/** The rule itself; other files test what wallets and bets make of it. */

const NOW_MS = 1_000_000;
const SETTLED: Bet = {
  ...FRESH,
  place: { kind: 'accepted', transactionTime: 'then' },
  settlement: { kind: 'settled', amount: '10', resultType: 'won', transactionTime: 'then' },
  standingOperationId: '9',
  late: {
    operation: { kind: 'settle', amount: '20', resultType: 'won' },
    ...{ atMs: NOW_MS - 60_000, confirmationsLeft: 2, isConfirming: false },
  },
};

function operation(changes: Partial<RecordedOperation> = {}): RecordedOperation {
  return {
    ...{ id: '5', operation: 'settle', attemptId: 'a', requestId: undefined, answer: undefined },
    ...{ body: body(BETS.settle.members), wasSent: true, isConcluded: false, isRefused: false },
    ...changes,
  };
}

/** Due bets by their ids, and the recorded operations of each. */
function confirmingOf(
  bets: readonly (Bet | undefined)[],
  {
    records = [],
    holdsRepeats = false,
  }: { records?: readonly RecordedOperation[]; holdsRepeats?: boolean } = {},
) {
  const calls = {
    postpone: vi.fn(async () => undefined),
    skip: vi.fn(async () => true),
    send: vi.fn(async () => true),
    isResolved: vi.fn(async (_operationId: string) => false),
    leaveToPerson: vi.fn(async () => true),
    due: vi.fn(async () => bets.map((_, at) => ({ transactionId: String(at), nowMs: NOW_MS }))),
  };
  const logger = { info: vi.fn(), error: vi.fn() };
  const delivery = { confirmUnknownAfterMs: 60_000, horizonHours: 2 };
  const confirming = partly<Confirming>({
    bets: { find: async (id: string) => bets[Number(id)], operationsOf: async () => records },
    confirmations: calls,
    configuration: () => ({ gateway: { delivery }, operators: new Map() }),
    wallets: {
      get: (id: string) =>
        id === 'alpha' ? { callerDialect: { holdUnknownRepeats: holdsRepeats } } : undefined,
    },
    logger,
  });
  return { confirming, ...calls, ...logger };
}

describe('the current state of a bet of which something may take effect late', () => {
  it('becomes a delivery when it is due, with its operator’s horizon (I4)', async () => {
    const { confirming, due, send, skip, info } = confirmingOf([SETTLED, undefined, SETTLED]);
    expect(await confirmDue(confirming)).toBe(2);
    expect(due.mock.calls).toEqual([[200]]);
    const confirmation = { operationId: '9', inMs: 60_000, horizonMs: 7_200_000 };
    expect(send.mock.calls).toEqual([
      [SETTLED, confirmation],
      [SETTLED, confirmation],
    ]);
    expect(skip).not.toHaveBeenCalled();
    expect(info.mock.calls[0]).toEqual([
      { operator: 'alpha', transactionId: '0', late: 'settle', left: 2 },
      'delivery.confirms_again',
    ]);
  });

  it('is passed over where a person has resolved it: only what comes after that is sent (I5)', async () => {
    const { confirming, isResolved, send, skip } = confirmingOf([SETTLED]);
    isResolved.mockResolvedValue(true);
    expect(await confirmDue(confirming)).toBe(0);
    expect(isResolved.mock.calls).toEqual([['9']]);
    expect(skip.mock.calls).toEqual([[SETTLED]]);
    expect(send).not.toHaveBeenCalled();
  });

  it('is sent even for an operator whose file is gone, with the gateway’s own settings', async () => {
    const owner = SETTLED.owner && { ...SETTLED.owner, operatorId: 'gone' };
    const { confirming, send } = confirmingOf([{ ...SETTLED, owner }]);
    expect(await confirmDue(confirming)).toBe(1);
    expect(send).toHaveBeenCalledOnce();
  });
});

describe('a result of unknown outcome that must not be repeated', () => {
  const unknown: Bet = {
    ...SETTLED,
    settlement: { kind: 'unknown', attempted: { kind: 'several' } },
  };

  it('is left to a person: the newest that was sent and not concluded (I5)', async () => {
    const records = [
      operation({ id: '8', operation: 'update' }),
      operation({ id: '7', wasSent: false }),
      operation({ id: '6', isConcluded: true }),
      operation({ id: '5' }),
      operation({ id: '4' }),
    ];
    const { confirming, leaveToPerson, skip, send, error } = confirmingOf([unknown], {
      ...{ records, holdsRepeats: true },
    });
    expect(await confirmDue(confirming)).toBe(0);
    expect(leaveToPerson.mock.calls).toEqual([
      [unknown, '5', expect.objectContaining({ operation: 'settle', amount: '12.10' })],
    ]);
    expect(skip).not.toHaveBeenCalled();
    expect(send).not.toHaveBeenCalled();
    expect(error.mock.calls).toEqual([
      [{ operator: 'alpha', transactionId: 'bet' }, 'delivery.left_to_person'],
    ]);
  });

  it('waits for its operator’s file, which says whether it may be repeated (I4)', async () => {
    const owner = unknown.owner && { ...unknown.owner, operatorId: 'gone' };
    const bet = { ...unknown, owner };
    const rolledBack = { ...bet, rollback: { kind: 'promised', transactionTime: 'then' } } as const;
    const { confirming, postpone, skip } = confirmingOf([bet, rolledBack]);
    expect(await confirmDue(confirming)).toBe(0);
    expect(postpone.mock.calls).toEqual([[bet, 60_000]]);
    expect(skip.mock.calls).toEqual([[rolledBack]]);
  });
});
