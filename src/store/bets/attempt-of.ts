import { unreachable } from '../../domain/unreachable.ts';
import type { BetAnswer } from '../../domain/wallet-answer.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { AttemptRecord } from './attempt.ts';

/** A wallet's answer as the journal keeps it. */
export function attemptOf(
  sent: BetAnswer,
  startedAtMs: number,
  answer: Answer | undefined,
): AttemptRecord {
  return { startedAtMs, result: resultOf(sent), trace: sent.trace, answer };
}

function resultOf(sent: BetAnswer): AttemptRecord['result'] {
  switch (sent.kind) {
    case 'accepted':
    case 'declined':
      return sent.kind;
    case 'notSent':
      return sent.reason;
    case 'unknown':
      return sent.fault;
    default:
      return unreachable(sent);
  }
}
