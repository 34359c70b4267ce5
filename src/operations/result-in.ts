import { type AttemptedResult, sameResult } from '../domain/bet.ts';
import { isResult } from '../domain/operation.ts';
import { isOtherCurrency } from '../domain/terms.ts';
import type { BetRequest, SettleRequest, UnsettleRequest } from '../protocol/messages.ts';

export type ResultRequest = SettleRequest | UnsettleRequest;

export function isResultRequest(message: BetRequest): message is ResultRequest {
  return isResult(message.operation);
}

/** The result that a message requests, in the form that the rules about a bet compare. */
export function resultIn(message: ResultRequest): AttemptedResult {
  if (message.operation === 'unsettle') return { kind: 'unsettle' };
  return { kind: 'settle', amount: message.amount, resultType: message.resultType };
}

/** Whether both messages ask for a result, and for the same one. */
export function askForSameResult(one: BetRequest, other: BetRequest): boolean {
  return (
    isResultRequest(one) &&
    isResultRequest(other) &&
    !isOtherCurrency(one, other) &&
    sameResult(resultIn(one), resultIn(other))
  );
}
