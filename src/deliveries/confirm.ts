import type { Bet } from '../domain/bet.ts';
import { decideConfirm } from '../domain/confirm.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { Engine } from '../operations/engine.ts';
import { leaveToPerson } from '../operations/first-request.ts';
import { deliverySettings, horizonMsOf } from '../operations/operator-settings.ts';
import type { Confirmations, DueConfirmation } from '../store/deliveries/confirmations.ts';
import type { Wallets } from '../wallets/wallets.ts';
import { forEachDueBet } from './due-bets.ts';

const BATCH = 200;

export interface Confirming extends Engine {
  readonly confirmations: Confirmations;
  readonly wallets: Wallets;
}

/**
 * Makes deliveries of the standing operations of bets whose lost calls may have taken effect late
 * (docs/money-safety.md). As deliveries, they respect the operator's limits and holds.
 * @param passedOver see `DueBets`
 * @returns how many became deliveries
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function confirmDue(
  confirming: Confirming,
  passedOver = new Set<string>(),
): Promise<number> {
  const { confirmations, logger } = confirming;
  const due = { batch: BATCH, look: (limit: number) => confirmations.due(limit), passedOver };
  return await forEachDueBet(logger, due, (bet) => confirm(confirming, bet));
}

async function confirm(
  confirming: Confirming,
  { transactionId, nowMs }: DueConfirmation,
): Promise<boolean> {
  const { bets, confirmations, configuration, logger, wallets } = confirming;
  const bet = await bets.find(transactionId);
  if (bet?.owner === undefined) return false;
  const { operatorId } = bet.owner;
  const settings = deliverySettings(configuration(), operatorId);
  const { confirmUnknownAfterMs: confirmAfterMs } = settings;
  const wallet = wallets.get(operatorId);
  const holdsRepeats = wallet?.callerDialect.holdUnknownRepeats === true;
  const decision = decideConfirm(bet, { nowMs, confirmAfterMs, holdsRepeats });
  switch (decision.kind) {
    case 'wait':
      await confirmations.postpone(bet, decision.inMs);
      return false;
    case 'skip':
      // Only the operator's file says whether a person has to decide: if skipped now, nobody would ever learn of it.
      if (wallet === undefined && hasUnknownResult(bet)) {
        await confirmations.postpone(bet, confirmAfterMs);
      } else await confirmations.skip(bet);
      return false;
    case 'leaveToPerson':
      if (!(await leaveToPerson(confirming, bet))) await confirmations.skip(bet);
      return false;
    case 'send': {
      const { operationId } = decision;
      if (await confirmations.isResolved(operationId)) {
        await confirmations.skip(bet);
        return false;
      }
      const horizonMs = horizonMsOf(settings);
      const facts = { operator: operatorId, transactionId, late: bet.late?.operation.kind };
      const confirmation = { operationId, inMs: confirmAfterMs, horizonMs };
      if (await confirmations.send(bet, confirmation)) {
        logger.info({ ...facts, left: bet.late?.confirmationsLeft }, 'delivery.confirms_again');
        return true;
      }
      // Its message was pruned, or lost in a failover: without this it would stay due for ever.
      if (await confirmations.skip(bet)) logger.error(facts, 'delivery.cannot_confirm');
      return false;
    }
    default:
      return unreachable(decision);
  }
}

function hasUnknownResult({ rollback, settlement }: Bet): boolean {
  return rollback.kind === 'none' && settlement.kind === 'unknown';
}
