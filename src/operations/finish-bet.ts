import type { DeliveryOutcome } from '../store/bets/outcome.ts';
import type { Attempt, Concluded } from './attempt.ts';
import { deliverySettings } from './delivery-settings.ts';
import type { Engine } from './engine.ts';

/** A conclusion with the outcome for the attempt's delivery. */
export interface WithDelivery extends Concluded {
  readonly delivery: DeliveryOutcome;
}

/**
 * The last step of every attempt but a bet's first place: writes its outcome and that of its delivery to the bet, in
 * time for its caller if one waits.
 */
export function finishBet<C extends WithDelivery>(
  { bets, configuration }: Pick<Engine, 'bets' | 'configuration'>,
  {
    transactionId,
    attemptId,
    operatorId,
    deadline,
  }: Pick<Attempt<C>, 'transactionId' | 'attemptId' | 'operatorId' | 'deadline'>,
): Attempt<C>['finish'] {
  return async (operationId, { conclusion, delivery, lateAnswer }, attempt) =>
    bets.finish({
      transactionId,
      attemptId,
      operationId,
      attempt,
      change: conclusion.change,
      confirmAfterMs: deliverySettings(configuration(), operatorId).confirmUnknownAfterMs,
      delivery,
      caller: deadline && { before: await bets.limitOf(deadline), lateAnswer },
    });
}
