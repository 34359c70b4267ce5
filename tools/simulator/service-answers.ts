import { JsonError, parseJsonObject } from '../../src/protocol/json.ts';
import type { CallResult } from './signed-client.ts';

/** The outcome of a settle, unsettle, rollback or update, after all repeats. */
export interface OperationOutcome {
  /** `refused`: 400, the protocol's refusal; `unanswered`: no definite answer after all repeats. */
  readonly kind: 'confirmed' | 'refused' | 'unanswered';
  readonly code: number | undefined;
  readonly last: CallResult;
  readonly sends: number;
}

/** The outcome of a place. `failed`: the service gives the bet up, and its `rollback` is under way. */
export type PlaceOutcome = { readonly transactionId: string; readonly result: CallResult } & (
  | { readonly kind: 'accepted' }
  | { readonly kind: 'declined'; readonly code: number }
  | { readonly kind: 'failed'; readonly rollback: Promise<OperationOutcome> }
);

const ISO_8601_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)$/;

/** 200 with the body that the protocol requires (service protocol, Bet callback success response). */
export function confirms(result: CallResult, transactionId: string): boolean {
  const time = result.json?.transactionTime;
  return (
    result.status === 200 &&
    result.json?.transactionId === transactionId &&
    typeof time === 'string' &&
    ISO_8601_UTC.test(time)
  );
}

/** The answer's error code, if it has one. */
export function codeOf(result: CallResult): number | undefined {
  const code = result.json?.code;
  return typeof code === 'number' ? code : undefined;
}

/** The exact text of a balance. */
export function amountIn(body: string): string | undefined {
  try {
    return parseJsonObject(Buffer.from(body)).numberText('amount');
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
