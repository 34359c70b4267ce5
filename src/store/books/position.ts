import { namedColumns } from '../sql/named.ts';

/** A position in the journal as the books read it: by the transaction that wrote an attempt, then by the attempt. */
export interface Position {
  readonly writtenIn: string;
  readonly operationId: string;
  readonly number: number;
}

/** Whether `a` precedes `b` in the journal. */
export function isBefore(a: Position, b: Position): boolean {
  const writtenIn = BigInt(a.writtenIn) - BigInt(b.writtenIn);
  if (writtenIn !== 0n) return writtenIn < 0n;
  const operationId = BigInt(a.operationId) - BigInt(b.operationId);
  if (operationId !== 0n) return operationId < 0n;
  return a.number < b.number;
}

export const POSITION = { written_in: 'xid8', operation_id: 'bigint', number: 'int' } as const;

export const positionOf = namedColumns({ written_in: 'text', operation_id: 'text', number: 'int' });
