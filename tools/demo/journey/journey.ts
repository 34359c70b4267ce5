import { codeOf } from '../../simulator/service-answers.ts';
import { type Narrator, NotAsPromised } from '../narrator.ts';
import type { Stage } from '../stage.ts';
import { freebet } from './freebet.ts';
import { placeBet, placeBetTwice, placeTooMuch, settle, unsettle, update } from './moves.ts';
import { openFrames } from './open-frames.ts';
import { operatorDown } from './operator-down.ts';
import {
  answerOf,
  balanceMoved,
  balanceOf,
  confirmed,
  money,
  nameOf,
  type Players,
  type Scene,
} from './scene.ts';

/** In playing order; each scene leaves the players' money as the next one needs it. */
const SCENES: readonly (readonly [title: string, play: (scene: Scene) => Promise<void>])[] = [
  ["A bet's life", aBetsLife],
  ['At the other operator', atTheOtherOperator],
  ['A wallet breaks the connection after it debited', brokenConnection],
  ['An operator goes down', operatorDown],
  ['A freebet, which the other operator cannot see', freebet],
];

/** Plays all scenes; the narrator then has all that went wrong. @returns the players, if their frames opened */
export async function playJourney(stage: Stage, narrator: Narrator): Promise<Players | undefined> {
  let players: Players | undefined;
  await narrator.scene('Players open their frames', async () => {
    players = await openFrames(stage, narrator);
  });
  if (players === undefined) return undefined;
  const { service, bonusApi, operators } = stage;
  const scene: Scene = { service, bonusApi, operators, narrator, players };
  for (const [title, play] of SCENES) await narrator.scene(title, () => play(scene));
  await service.idle();
  return players;
}

/** Every operation that a bet can have, with the money that it moves. */
async function aBetsLife(scene: Scene): Promise<void> {
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
async function atTheOtherOperator(scene: Scene): Promise<void> {
  const { carla } = scene.players;
  const bet = await placeBet(scene, carla, '20.00');
  const cashout = { resultType: 'cashout', amount: '15.50', moves: '15.50' } as const;
  await settle(scene, carla, bet, cashout, 'cashout 15.50 EUR');
  await placeTooMuch(scene, carla, '5000.00');
}

const STAKE = '8.00';

/** The wallet debits and breaks the connection: code 100, and the service rolls the bet back. */
async function brokenConnection(scene: Scene): Promise<void> {
  const { narrator, service } = scene;
  const { ben } = scene.players;
  const before = balanceOf(ben);
  ben.wallet.misbehave('place', { kind: 'reset', effect: 'applied' }, { calls: 1 });
  const doing = `place bet ${money(STAKE, ben.currency)}`;
  const { outcome } = await narrator.step(nameOf(ben), doing, async () => {
    const outcome = await service.place({ ...ben, amount: STAKE });
    if (outcome.kind !== 'failed' || codeOf(outcome.result) !== 100) {
      throw new NotAsPromised('400 with code 100', answerOf(outcome.result));
    }
    const booked = ben.wallet.arrivals(outcome.transactionId, 'place').map((call) => call.result);
    if (booked.join() !== 'applied') throw new NotAsPromised('one debit', booked.join());
    return { came: 'debited, but the answer broke off: code 100', ms: outcome.result.ms, outcome };
  });
  await narrator.step(nameOf(ben), 'the service rolls back', async () => {
    const answer = confirmed(await outcome.rollback);
    return { came: `refunded, ${balanceMoved(ben, before, '0')}`, ms: answer.ms };
  });
}
