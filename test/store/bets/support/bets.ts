import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll } from 'vitest';
import type { Bet } from '../../../../src/domain/bet.ts';
import type { BetOperation } from '../../../../src/domain/operation.ts';
import type { Commit } from '../../../../src/store/bets/commit.ts';
import { BetJournal } from '../../../../src/store/bets/journal.ts';
import { FRESH } from '../../../domain/support/fresh-bet.ts';
import { ampleDeadline, openTestJournal, type TestJournal } from '../../../support/journal.ts';
import { onServer } from '../../../support/server.ts';

export const AT = '2021-03-05T11:08:00.000Z';
export const ROLLED_BACK = { kind: 'confirmed', transactionTime: AT } as const;
export let journal: TestJournal;

export let bets: BetJournal;

/** Opens and closes them with the test file. */
export function useBets(): void {
  beforeAll(async () => {
    journal = await openTestJournal();
    bets = new BetJournal(journal.database, journal.clock);
  });
  afterAll(() => journal.close());
}

/** An accepted bet that is not in the journal yet. */
export function newBet(): Bet {
  return {
    ...FRESH,
    transactionId: randomUUID(),
    owner: journal.owner,
    sessionId: journal.sessionId,
    amount: '12.10',
    place: { kind: 'accepted', transactionTime: AT },
    version: 0,
  };
}

export function commitOf(
  from: Bet,
  changes: Partial<Bet> = {},
  more: Partial<Commit> = {},
): Commit {
  const attemptId = changes.busy?.attemptId ?? randomUUID();
  return {
    from,
    to: { ...from, ...changes },
    record: {
      operation: operationOf(changes),
      attemptId,
      requestId: undefined,
      body: Buffer.from('{}'),
      answer: undefined,
    },
    delivery: undefined,
    supersedes: [],
    ...more,
  };
}

function operationOf({ busy }: Partial<Bet>): BetOperation {
  return busy === undefined || busy.operation === 'confirm' ? 'rollback' : busy.operation;
}

/** @returns the operation's id, or why nothing was written */
export async function commit(what: Commit): Promise<string> {
  const committed = await bets.commit(what, ampleDeadline());
  return committed.kind === 'committed' ? committed.operationId : committed.kind;
}

export async function find({ transactionId }: Bet): Promise<Bet> {
  const bet = await bets.find(transactionId);
  if (bet === undefined) throw new Error('no such bet');
  return bet;
}

export async function stored(changes: Partial<Bet> = {}): Promise<Bet> {
  const wanted = commitOf(newBet(), changes);
  await commit(wanted);
  return await find(wanted.to);
}

export const guard = (state: 'live' | 'pending') =>
  ({ operation: 'rollback', state, transactionTime: AT, horizonMs: 3_600_000 }) as const;

export async function deliveriesOf(bet: Bet) {
  return await onServer(journal.url, async (client) => {
    const { rows } = await client.query<{ state: string; attempts: number; due: boolean }>(
      `SELECT state, attempts, next_attempt_at <= clock_timestamp() AS due FROM deliveries
        WHERE transaction_id = $1 ORDER BY id`,
      [bet.transactionId],
    );
    return rows;
  });
}

export async function lapse({ transactionId }: Pick<Bet, 'transactionId'>): Promise<void> {
  const lapsed = 'UPDATE bets SET busy_until = clock_timestamp() WHERE transaction_id = $1';
  await journal.sql(lapsed, [transactionId]);
}
