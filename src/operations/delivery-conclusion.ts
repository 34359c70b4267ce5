import { backoffMs } from '../domain/backoff.ts';
import {
  type Conclusion,
  concludeResult,
  concludeRollback,
  concludeUpdate,
} from '../domain/conclude.ts';
import { lateAfterConfirming } from '../domain/confirm.ts';
import { type AfterAttempt, afterAttempt } from '../domain/delivery.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { BetAnswer } from '../domain/wallet-answer.ts';
import { accepted } from '../protocol/answers.ts';
import type { BetRequest } from '../protocol/messages.ts';
import type { DeliveryOutcome } from '../store/bets/outcome.ts';
import type { TakenDelivery } from '../store/deliveries/taken.ts';
import type { Wallet } from '../wallets/call.ts';
import type { DeliverySettings } from './delivery-settings.ts';
import type { WithDelivery } from './finish-bet.ts';
import { resultIn } from './result-in.ts';

export interface DeliveryConcluded extends WithDelivery {
  readonly delivery: Extract<DeliveryOutcome, { kind: 'after' }>;
}

/**
 * What an attempt of a delivery means: for the delivery, and for its bet. The answer already given to the service never
 * changes.
 * @param message undefined if the stored request could not be read, so that nothing was sent
 */
export function concludeDelivery(
  settings: DeliverySettings,
  wallet: Wallet,
  taken: TakenDelivery,
  message: BetRequest | undefined,
  sent: BetAnswer,
): DeliveryConcluded {
  const { operation, purpose, isOverdue, attempts, transactionId, transactionTime } = taken;
  const retryInMs = backoffMs(attempts, settings, Math.random());
  const holdsRepeats = wallet.callerDialect.holdUnknownRepeats;
  const attempted = { operation, purpose, isOverdue, retryInMs, holdsRepeats };
  const after = afterAttempt(attempted, sent);
  // The service was answered by its callback; here nobody waits.
  const answer = accepted(transactionId, transactionTime);
  return {
    conclusion:
      purpose === 'confirm'
        ? concludeConfirmation(taken, after)
        : concludePromise(taken, message, sent),
    delivery: { kind: 'after', after, purpose, isCounted: true },
    answer,
    lateAnswer: answer,
  };
}

const NOTHING: Conclusion = { outcome: 'not_sent', answer: undefined, change: {} };

/** A confirmation does not change the bet's result, which is recorded already; at most it adds a late effect. */
function concludeConfirmation({ bet, attempts }: TakenDelivery, after: AfterAttempt): Conclusion {
  const hasEnded = after.kind === 'delivered' || after.kind === 'refused';
  // A lost attempt may take effect late like those before it, even if no other attempt follows.
  const isLost = after.kind === 'refused' && after.isLost === true;
  const late = hasEnded ? lateAfterConfirming(bet, isLost ? attempts + 1 : attempts) : undefined;
  return late === undefined ? NOTHING : { ...NOTHING, change: { late } };
}

function concludePromise(
  taken: TakenDelivery,
  message: BetRequest | undefined,
  sent: BetAnswer,
): Conclusion {
  const { transactionTime: promisedTime, bet } = taken;
  if (message === undefined) return NOTHING;
  switch (message.operation) {
    case 'place':
      return NOTHING;
    case 'rollback':
      return concludeRollback(bet, sent, { promisedTime, isAnswered: true });
    case 'update': {
      const key = message.coefficientsKey;
      return concludeUpdate(sent, { key, promisedTime, isAnswered: true, before: undefined });
    }
    case 'settle':
    case 'unsettle':
      return concludeResult(bet, resultIn(message), sent, {
        tokenIsChecked: false,
        answeredTime: promisedTime,
      });
    default:
      return unreachable(message);
  }
}
