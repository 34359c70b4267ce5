import type { Narrator } from '../narrator.ts';
import type { Stage } from '../stage.ts';
import { aBetsLife, atTheOtherOperator } from './a-bets-life.ts';
import { brokenConnection } from './broken-connection.ts';
import { freebet } from './freebet.ts';
import { openFrames } from './open-frames.ts';
import { operatorDown } from './operator-down.ts';
import type { Players, Scene } from './scene.ts';

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
