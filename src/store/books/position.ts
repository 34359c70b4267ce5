import type { Columns } from '../sql/statement.ts';

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

export function positionOf(row: Columns): Position {
  return {
    writtenIn: row.text('written_in'),
    operationId: row.text('operation_id'),
    number: row.int('number'),
  };
}
