import type { FreedBet } from '../../domain/finish.ts';
import { BET_OPERATIONS } from '../../domain/operation.ts';
import { isOpen } from '../deliveries/open-of-bet.ts';
import { batchStatement, type Parameters, statement } from '../sql/statement.ts';
import { freedParameters, SET_FREED } from './columns.ts';
import { inputOfFree, WHAT_BECAME_OF_GIVEN, whatBecame } from './locked-row.ts';

/** A bet after its lost attempt. */
export interface Recovery {
  readonly attemptId: string;
  readonly version: number;
  readonly freed: FreedBet;
}

/** Bets whose attempts' leases have ended, the oldest first. */
export const LAPSED = statement(
  'bet-lapsed',
  { limit: ['int', (limit: number) => limit] },
  `
  SELECT transaction_id, operator_id, busy_operation, busy_attempt FROM bets
   WHERE busy_until <= statement_timestamp() ORDER BY busy_until LIMIT :limit FOR UPDATE SKIP LOCKED`,
  (row) => ({
    transactionId: row.text('transaction_id'),
    operatorId: row.textOrNull('operator_id'),
    operation: row.oneOf('busy_operation', [...BET_OPERATIONS, 'confirm']),
    attemptId: row.text('busy_attempt'),
  }),
);

/** Frees bets from attempts whose leases have ended; the `live` deliveries that guarded these become due. */
export const RECOVER = batchStatement(
  'bet-recover',
  {
    transaction_id: ['text', ({ freed }) => freed.bet.transactionId],
    attempt_id: ['uuid', ({ attemptId }) => attemptId],
    version: ['int', ({ version }) => version],
    before: ['timestamptz', () => null],
    ...freedParameters<Recovery>(({ freed }) => freed),
  } satisfies Parameters<Recovery>,
  `
  ${inputOfFree(`
        SELECT d.id FROM deliveries d
         WHERE d.transaction_id = g.transaction_id AND ${isOpen('d')}
           AND d.state IS NOT DISTINCT FROM 'live'`)}, bet AS (
    UPDATE bets b
       SET ${SET_FREED}
      FROM input i
     WHERE b.transaction_id = i.transaction_id AND b.busy_attempt = i.attempt_id
       AND b.version = i.version AND b.busy_until <= clock_timestamp()
    RETURNING i.attempt_id
  ), guards AS (
    UPDATE deliveries SET state = 'pending', next_attempt_at = clock_timestamp()
     -- As an array: with a join, the planner would read every open delivery to find these few.
     WHERE id = ANY (ARRAY(SELECT t.id FROM touched t JOIN bet USING (attempt_id)))
       AND state IS NOT DISTINCT FROM 'live'
  )
  ${WHAT_BECAME_OF_GIVEN}`,
  whatBecame,
);
