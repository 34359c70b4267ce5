import type { AttemptedResult } from '../domain/bet.ts';
import type { SettleRequest, UnsettleRequest } from '../protocol/messages.ts';

export type ResultRequest = SettleRequest | UnsettleRequest;

/** The result that a message asks for, as the rules about a bet compare it. */
export function resultIn(message: ResultRequest): AttemptedResult {
  if (message.operation === 'unsettle') return { kind: 'unsettle' };
  return { kind: 'settle', amount: message.amount, resultType: message.resultType };
}
