import { addAmounts, canonicalAmount, sameAmount } from '../../../src/domain/amount.ts';
import type { SimulatedBonusApi } from '../../simulator/bonus-api/bonus-api.ts';
import type { SimulatedOperator } from '../../simulator/operator.ts';
import type { ServicePlayer, SimulatedService } from '../../simulator/service.ts';
import type { OperationOutcome } from '../../simulator/service-answers.ts';
import type { CallResult } from '../../simulator/signed-client.ts';
import type { SimulatedWallet } from '../../simulator/wallet/wallet.ts';
import type { OperatorId } from '../cast.ts';
import { type Narrator, NotAsPromised } from '../narrator.ts';

/** A player with an open frame, as both the service and the operator know them. */
export interface Player extends ServicePlayer {
  readonly operatorId: OperatorId;
  /** The operator's own id. */
  readonly user: string;
  readonly wallet: SimulatedWallet;
}

export interface Players {
  /** At alpha, in USD. */
  readonly anna: Player;
  /** At alpha, in EUR. */
  readonly ben: Player;
  /** At beta, in EUR. */
  readonly carla: Player;
}

/** What every scene needs. */
export interface Scene {
  readonly service: SimulatedService;
  readonly bonusApi: SimulatedBonusApi;
  readonly operators: Readonly<Record<OperatorId, SimulatedOperator>>;
  readonly narrator: Narrator;
  readonly players: Players;
}

export function nameOf(player: { operatorId: OperatorId; user: string }): string {
  return `${player.operatorId}/${player.user}`;
}

/** `12.1`, `USD` gives `12.10 USD`; more than two decimal places are kept. */
export function money(amount: string, currency: string): string {
  const text = canonicalAmount(amount);
  const places = text.split('.')[1]?.length ?? 0;
  const shown = places >= 2 ? text : `${text}${places === 0 ? '.00' : '0'}`;
  return `${shown} ${currency}`;
}

export function balanceOf(player: Player): string {
  return player.wallet.balance(player.user, player.currency);
}

/**
 * The player's balance for people, checked. @param moved decimal text, negative for a debit
 * @throws NotAsPromised if the wallet holds anything else
 */
export function balanceMoved(player: Player, before: string, moved: string): string {
  const expected = addAmounts(before, moved);
  const balance = balanceOf(player);
  const shown = `balance ${money(balance, player.currency)}`;
  if (sameAmount(balance, expected)) return shown;
  throw new NotAsPromised(`balance ${money(expected, player.currency)}`, shown);
}

/** @returns the last answer @throws NotAsPromised if the operation was not confirmed */
export function confirmed(outcome: OperationOutcome): CallResult {
  if (outcome.kind === 'confirmed') return outcome.last;
  throw new NotAsPromised('200', answerOf(outcome.last));
}

/** A short form of an answer, for error messages. */
export function answerOf(result: CallResult): string {
  return result.failure === undefined
    ? `${result.status} ${result.body}`
    : `no answer (${result.failure}: ${result.body})`;
}

/** @throws NotAsPromised unless the wallet received exactly this many calls of this kind */
export function expectCalls(
  player: Player,
  transactionId: string,
  operation: 'place' | 'rollback',
  count: number,
): void {
  const calls = player.wallet.arrivals(transactionId, operation).length;
  if (calls === count) return;
  throw new NotAsPromised(`${count} ${operation} at the wallet`, String(calls));
}
