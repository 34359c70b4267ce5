import { DatabaseError } from 'pg';
import { GatewayError } from '../../domain/errors.ts';
import type { Database } from '../database.ts';
import { type AttemptKey, LOOK_UP_BEGUN } from './statements.ts';

/** What all batches of the journal have in common. */
export const BATCHING = {
  concurrency: 2,
  waitingMax: 5_000,
  isRowError: (error: unknown): boolean => error instanceof DatabaseError,
  refused: (why: string): Error => new GatewayError('DATABASE_UNAVAILABLE', why),
};

/**
 * The operations that attempts have begun, by attempt: as a statement's rows say, or in an earlier try whose commit was
 * not reported.
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function operationsBegun(
  database: Database,
  attempts: readonly AttemptKey[],
  rows: readonly { readonly attemptId: string; readonly operationId: string | undefined }[],
): Promise<ReadonlyMap<string, string>> {
  const begun = new Map<string, string>();
  for (const { attemptId, operationId } of rows) {
    if (operationId !== undefined) begun.set(attemptId, operationId);
  }
  const doubtful = attempts.filter(({ attemptId }) => !begun.has(attemptId));
  const mine = doubtful.length === 0 ? [] : await database.run(LOOK_UP_BEGUN, doubtful);
  for (const { attemptId, operationId } of mine) begun.set(attemptId, operationId);
  return begun;
}
