import type { Database } from '../database.ts';
import { type AttemptKey, LOOK_UP_BEGUN } from './statements.ts';

/** By attempt id; looked up if an earlier try may have committed. @throws GatewayError `DATABASE_UNAVAILABLE` */
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
