import { randomUUID } from 'node:crypto';
import { sameAmount, subtractAmounts } from '../../../src/domain/amount.ts';
import { placeBody } from '../../../src/protocol/callback-bodies.ts';
import type { ResultType } from '../../simulator/wallet/calls.ts';
import { NotAsPromised } from '../narrator.ts';
import {
  answerOf,
  balanceMoved,
  balanceOf,
  confirmed,
  expectCalls,
  money,
  nameOf,
  type Player,
  type Scene,
} from './scene.ts';

// The operations of a bet, each one printed, and checked against the wallet's own books.

/** @returns the bet's `transactionId` */
export async function placeBet(scene: Scene, player: Player, stake: string): Promise<string> {
  const doing = `place bet ${money(stake, player.currency)}`;
  const { transactionId } = await scene.narrator.step(nameOf(player), doing, async () => {
    const before = balanceOf(player);
    const { kind, result, transactionId } = await scene.service.place({ ...player, amount: stake });
    if (kind !== 'accepted') throw new NotAsPromised('200', answerOf(result));
    const balance = balanceMoved(player, before, subtractAmounts('0', stake));
    return { came: `debited, ${balance}`, ms: result.ms, transactionId };
  });
  return transactionId;
}

/** Places a bet, then sends the very same request again. @returns its `transactionId` */
export async function placeBetTwice(scene: Scene, player: Player, stake: string): Promise<string> {
  const { narrator, service } = scene;
  const transactionId = randomUUID();
  const request = { ...player, amount: stake, transactionId };
  const doing = `place bet ${money(stake, player.currency)}`;
  const first = await narrator.step(nameOf(player), doing, async () => {
    const before = balanceOf(player);
    const { kind, result } = await service.place(request);
    if (kind !== 'accepted') throw new NotAsPromised('200', answerOf(result));
    const balance = balanceMoved(player, before, subtractAmounts('0', stake));
    return { came: `debited, ${balance}`, ms: result.ms, result };
  });
  await narrator.step(nameOf(player), 'the same place bet again', async () => {
    const before = balanceOf(player);
    const again = await service.call('POST', '/payment/bet', placeBody(service.slip(request)));
    if (again.status !== 200 || again.body !== first.result.body) {
      throw new NotAsPromised(`the first answer, ${first.result.body}`, answerOf(again));
    }
    expectCalls(player, transactionId, 'place', 1);
    const balance = balanceMoved(player, before, '0');
    return { came: `the first answer again, ${balance}`, ms: again.ms };
  });
  return transactionId;
}

/** A bet that the wallet has to decline for lack of money. */
export async function placeTooMuch(scene: Scene, player: Player, stake: string): Promise<void> {
  const doing = `place bet ${money(stake, player.currency)}`;
  await scene.narrator.step(nameOf(player), doing, async () => {
    const before = balanceOf(player);
    const outcome = await scene.service.place({ ...player, amount: stake });
    if (outcome.kind !== 'declined' || outcome.code !== 7) {
      throw new NotAsPromised('400 with code 7', answerOf(outcome.result));
    }
    const balance = balanceMoved(player, before, '0');
    return { came: `declined: not enough money, ${balance}`, ms: outcome.result.ms };
  });
}

export interface Result {
  readonly resultType: ResultType;
  /** The payout, decimal text. */
  readonly amount: string;
  /** The change of the balance: this payout minus the previous one. */
  readonly moves: string;
}

export async function settle(
  scene: Scene,
  player: Player,
  transactionId: string,
  { resultType, amount, moves }: Result,
  doing = `settle, ${resultType}${paid(amount, player.currency)}`,
): Promise<void> {
  await scene.narrator.step(nameOf(player), doing, async () => {
    const before = balanceOf(player);
    const result = { amount, resultType };
    const answer = confirmed(await scene.service.settle(transactionId, result));
    const balance = balanceMoved(player, before, moves);
    const came = sameAmount(moves, '0') ? 'nothing paid' : `+${money(moves, player.currency)}`;
    return { came: `${came}, ${balance}`, ms: answer.ms };
  });
}

function paid(amount: string, currency: string): string {
  return sameAmount(amount, '0') ? '' : ` ${money(amount, currency)}`;
}

/** @param payout the current one, which is taken back */
export async function unsettle(
  scene: Scene,
  player: Player,
  transactionId: string,
  payout: string,
): Promise<void> {
  await scene.narrator.step(nameOf(player), 'unsettle', async () => {
    const before = balanceOf(player);
    const answer = confirmed(await scene.service.unsettle(transactionId));
    const balance = balanceMoved(player, before, subtractAmounts('0', payout));
    return { came: `payout taken back, ${balance}`, ms: answer.ms };
  });
}

/** Updates the odds of an accepted bet: the wallet records them, and no money moves. */
export async function update(
  scene: Scene,
  player: Player,
  transactionId: string,
  coefficient: string,
): Promise<void> {
  await scene.narrator.step(nameOf(player), `data update, odds ${coefficient}`, async () => {
    const before = balanceOf(player);
    const answer = confirmed(await scene.service.update(transactionId, coefficient));
    const noted = player.wallet.bets.get(transactionId)?.coefficients?.coefficient;
    if (noted !== coefficient) throw new NotAsPromised(`odds ${coefficient}`, `odds ${noted}`);
    return { came: `noted, ${balanceMoved(player, before, '0')}`, ms: answer.ms };
  });
}
