import type { Bet } from '../domain/bet.ts';
import { CODES } from '../domain/codes.ts';
import type { Deadline } from '../domain/deadline.ts';
import type { Decision } from '../domain/decide.ts';
import { unreachable } from '../domain/unreachable.ts';
import { accepted, failure } from '../protocol/answers.ts';
import type { BetRequest } from '../protocol/messages.ts';
import { refused, unavailable } from './answers.ts';
import type { Callbacks, Handled } from './context.ts';
import { locate } from './locate.ts';
import { answerOfTwin } from './twin.ts';

/** What one kind of operation does where the common walk leaves it a choice. */
export interface BetStory {
  readonly decide: (bet: Bet) => Decision;
  /** Neither bet nor player is known here. */
  readonly nobody: () => Promise<Handled | 'moved'>;
  /** Carries out `send`, `nothingToSend` or `takeOver`; 'moved' when the bet changed meanwhile. */
  readonly carry: (
    bet: Bet,
    decision: Extract<Decision, { supersedes: readonly string[] }>,
  ) => Promise<Handled | 'moved'>;
  /** The deadline passed while another operation of the bet was in flight. */
  readonly late: (bet: Bet) => Promise<Handled | 'moved'>;
}

/**
 * The walk of every operation on a bet that may be known already: find it, decide, carry it out,
 * and look again whenever somebody else was faster.
 * @throws GatewayError, OutOfTime when the journal fails
 */
export async function carryOut(
  callbacks: Callbacks,
  message: BetRequest,
  deadline: Deadline,
  story: BetStory,
): Promise<Handled> {
  // The attempt of the same operation that this copy has waited for.
  let joined: string | undefined;
  for (let turn = 0; ; turn += 1) {
    const located = await locate(callbacks, message);
    if (located.kind === 'nobody') {
      const handled = await story.nobody();
      if (handled === 'moved') continue;
      return handled;
    }
    if (located.kind === 'foreign') {
      return conflict(callbacks, message, located.operatorId, "the bet is another player's");
    }
    const { bet } = located;
    const operatorId = bet.owner?.operatorId;
    if (joined !== undefined && bet.busy?.attemptId !== joined) {
      const told = await answerOfTwin(callbacks, message, joined);
      joined = undefined;
      if (told !== undefined) return repeated(callbacks, message, operatorId, turn, told);
    }
    const decision = story.decide(bet);
    switch (decision.kind) {
      case 'repeat':
        return repeated(callbacks, message, operatorId, turn, {
          ...accepted(bet.transactionId, decision.transactionTime),
        });
      case 'repeatRefusal':
        return repeated(
          callbacks,
          message,
          operatorId,
          turn,
          failure(decision.code, decision.message),
        );
      case 'conflict':
        return conflict(callbacks, message, operatorId, decision.why);
      case 'unresolved':
        return unresolved(callbacks, message, operatorId);
      case 'wait': {
        if (bet.busy?.operation === message.operation) joined = bet.busy.attemptId;
        if (await callbacks.watch.next(message.transactionId, deadline, turn)) continue;
        const late = await story.late(bet);
        if (late === 'moved') continue;
        return late;
      }
      case 'send':
      case 'nothingToSend':
      case 'takeOver': {
        const carried = await story.carry(bet, decision);
        if (carried === 'moved') continue;
        return carried;
      }
      case 'fenced':
        throw new Error('only a place is fenced');
      default:
        return unreachable(decision);
    }
  }
}

function repeated(
  callbacks: Callbacks,
  message: BetRequest,
  operatorId: string | undefined,
  turn: number,
  answer: Handled['answer'],
): Handled {
  callbacks.metrics.duplicates.inc({
    operator: operatorId ?? 'unknown',
    operation: message.operation,
    source: turn > 0 ? 'in_flight' : 'journal',
  });
  return { answer, outcome: 'duplicate', operatorId };
}

function conflict(
  callbacks: Callbacks,
  message: BetRequest,
  operatorId: string | undefined,
  why: string,
): Handled {
  callbacks.metrics.conflicts.inc({ operator: operatorId ?? 'unknown' });
  callbacks.logger.warn(
    {
      operator: operatorId,
      operation: message.operation,
      transactionId: message.transactionId,
      why,
    },
    'bet.conflict',
  );
  return refused(CODES.validation, `transactionId: ${why}`, operatorId, 'conflict');
}

/** Paying out a bet that may never have been debited would be wrong, and so would refusing to. */
function unresolved(
  callbacks: Callbacks,
  message: BetRequest,
  operatorId: string | undefined,
): Handled {
  callbacks.logger.error(
    { operator: operatorId, operation: message.operation, transactionId: message.transactionId },
    'bet.result_for_unknown_place: the service settles a bet whose place was answered 100',
  );
  return unavailable('unknown', operatorId, { reason: 'place_unknown' });
}
