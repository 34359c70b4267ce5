import { placeBet, placeBetTwice, placeTooMuch, settle, unsettle, update } from './moves.ts';
import type { Scene } from './scene.ts';

/** Every operation that a bet can have, with the money that it moves. */
export async function aBetsLife(scene: Scene): Promise<void> {
  const { anna } = scene.players;
  const bet = await placeBetTwice(scene, anna, '12.10');
  await update(scene, anna, bet, '1.35');
  await settle(scene, anna, bet, { resultType: 'won', amount: '24.20', moves: '24.20' });
  await settle(
    scene,
    anna,
    bet,
    { resultType: 'won', amount: '30.25', moves: '6.05' },
    'resettle, won 30.25 USD',
  );
  await unsettle(scene, anna, bet, '30.25');
  await settle(scene, anna, bet, { resultType: 'lost', amount: '0', moves: '0' });
}

/** A player at the other operator cashes out, and tries to bet too much. */
export async function atTheOtherOperator(scene: Scene): Promise<void> {
  const { carla } = scene.players;
  const bet = await placeBet(scene, carla, '20.00');
  const cashout = { resultType: 'cashout', amount: '15.50', moves: '15.50' } as const;
  await settle(scene, carla, bet, cashout, 'cashout 15.50 EUR');
  await placeTooMuch(scene, carla, '5000.00');
}
