import { decideConfirm } from '../domain/confirm.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { Engine } from '../engine/context.ts';
import { deliverySettings } from '../engine/delivery-settings.ts';
import type { Confirmations, DueConfirmation } from '../store/deliveries/confirmations.ts';

const BATCH = 200;

export interface Confirming extends Engine {
  readonly confirmations: Confirmations;
}

/**
 * Sends once more what stands at bets of which something may have landed late: as deliveries, so
 * that they share the operator's limits and holds (docs/money-safety.md).
 * @returns how many became deliveries
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function confirmDue(confirming: Confirming): Promise<number> {
  const due = await confirming.confirmations.due(BATCH);
  let sent = 0;
  for (const bet of due) {
    if (await confirm(confirming, bet)) sent += 1;
  }
  return sent;
}

async function confirm(
  { bets, confirmations, configuration, logger }: Confirming,
  { transactionId, nowMs }: DueConfirmation,
): Promise<boolean> {
  const bet = await bets.find(transactionId);
  if (bet?.owner === undefined) return false;
  const { operatorId } = bet.owner;
  const settings = deliverySettings(configuration(), operatorId);
  const { confirmUnknownAfterMs: confirmAfterMs } = settings;
  const decision = decideConfirm(bet, { nowMs, confirmAfterMs });
  switch (decision.kind) {
    case 'wait':
      await confirmations.postpone(bet, decision.inMs);
      return false;
    case 'skip':
      await confirmations.skip(bet);
      return false;
    case 'send': {
      const horizonMs = settings.horizonHours * 3_600_000;
      await confirmations.send(bet, decision.operationId, confirmAfterMs, horizonMs);
      const { late } = bet;
      const facts = { operator: operatorId, transactionId, late: late?.operation.kind };
      logger.info({ ...facts, left: late?.confirmationsLeft }, 'delivery.confirms_again');
      return true;
    }
    default:
      return unreachable(decision);
  }
}
