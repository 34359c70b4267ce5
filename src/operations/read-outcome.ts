import { unreachable } from '../domain/unreachable.ts';
import type { ReadFailure } from '../domain/wallet-answer.ts';
import { refused, unavailable } from './answers.ts';
import type { Callbacks } from './callbacks.ts';
import { detailOf, type Handled } from './handled.ts';

/** The answer to a profile or balance for which the wallet returned no data. */
export function readOutcome(operatorId: string, answer: ReadFailure): Handled {
  // In words, too: of a bet the journal has them, of a profile or balance only this line. A refusal's are the wallet's own.
  const detail = { ...detailOf(answer), error: answer.trace.error };
  switch (answer.kind) {
    case 'declined':
      return refused(answer.code, answer.message, operatorId, 'declined');
    case 'notSent':
      return unavailable('not_sent', operatorId, detail);
    case 'unknown':
      return unavailable('error', operatorId, detail);
    default:
      return unreachable(answer);
  }
}

/** The answer if the operator's file was removed: as in maintenance. */
export function withoutWallet(callbacks: Callbacks, operatorId: string): Handled {
  const reason = 'maintenance';
  callbacks.metrics.rejected.inc({ operator: operatorId, reason });
  return unavailable('not_sent', operatorId, { reason });
}
