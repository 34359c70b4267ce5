import { CODES } from '../domain/codes.ts';
import type { Deadline } from '../domain/deadline.ts';
import { decideUnsettle } from '../domain/decide.ts';
import { unreachable } from '../domain/unreachable.ts';
import { isoTime } from '../protocol/answers.ts';
import type { UnsettleRequest } from '../protocol/messages.ts';
import { refused, unavailable } from './answers.ts';
import { carryOut } from './carry-out.ts';
import type { Callbacks, Handled } from './context.ts';
import { cancelQueued, type ResultStory, sendResult, takeOverResult } from './result.ts';
import { NOT_BROUGHT } from './settle.ts';

/**
 * An unsettle: answered from the bet's state where it is unsettled already, else brought to the
 * wallet; what could not be brought is answered 503, so that the service repeats it.
 * @throws GatewayError, OutOfTime when the journal failed
 */
export async function unsettle(
  callbacks: Callbacks,
  message: UnsettleRequest,
  raw: Buffer,
  deadline: Deadline,
): Promise<Handled> {
  const context: ResultStory = {
    callbacks,
    message,
    raw,
    deadline,
    attempted: { kind: 'unsettle' },
    settlement: (transactionTime) => ({ kind: 'unsettled', transactionTime }),
    notBrought: NOT_BROUGHT,
  };
  return await carryOut(callbacks, message, deadline, {
    decide: decideUnsettle,
    nobody: async () => refused(CODES.validation, 'transactionId: is not known', undefined),
    carry: async (bet, decision) => {
      const now = isoTime(callbacks.clock.nowMs());
      switch (decision.kind) {
        case 'send':
          return await sendResult(context, bet, undefined, false);
        case 'takeOver':
          return await takeOverResult(context, bet, bet, now, decision.supersedes);
        case 'nothingToSend':
          return await cancelQueued(context, bet, now, decision.supersedes);
        default:
          return unreachable(decision);
      }
    },
    late: async (bet) => unavailable('error', bet.owner?.operatorId, { reason: 'in_flight' }),
  });
}
