import { NotAsPromised, timed } from '../narrator.ts';
import { placeBet } from './moves.ts';
import { balanceMoved, balanceOf, confirmed, nameOf, type Player, type Scene } from './scene.ts';

const STAKE = '10.00';
const DELIVERY_MS_MAX = 10_000;

/** An operator is away when its bet is rolled back: its wallet gets the rollback when it is back. */
export async function operatorDown(scene: Scene): Promise<void> {
  const { narrator, service } = scene;
  const { anna, carla } = scene.players;
  const { wallet } = carla;
  const before = balanceOf(carla);
  const bet = await placeBet(scene, carla, STAKE);

  await narrator.step('beta', 'goes down', async () => {
    await wallet.down();
    return { came: 'its wallet refuses connections' };
  });
  await narrator.step(nameOf(carla), 'the service rolls back', async () => {
    const answer = confirmed(await service.rollback(bet));
    if (wallet.arrivals(bet, 'rollback').length > 0) {
      throw new NotAsPromised('a wallet that is down', 'a rollback that reached it');
    }
    return { came: '200: the gateway has taken it over', ms: answer.ms };
  });
  await placeBet(scene, anna, '5.00');
  await narrator.step('beta', 'returns', async () => {
    await wallet.up();
    return { came: `its wallet listens again, ${balanceMoved(carla, before, `-${STAKE}`)}` };
  });
  await narrator.step(nameOf(carla), 'the gateway delivers the rollback', async () => {
    const { ms } = await timed(() => rolledBack(carla, bet));
    return { came: `refunded, ${balanceMoved(carla, before, '0')}`, ms };
  });
}

/** @throws NotAsPromised if the wallet has not booked it in time */
async function rolledBack({ wallet }: Player, bet: string): Promise<void> {
  const isBooked = () => wallet.bets.get(bet)?.status === 'rolled_back';
  try {
    await wallet.waitFor(isBooked, DELIVERY_MS_MAX);
  } catch {
    const status = wallet.bets.get(bet)?.status ?? 'unknown there';
    const waited = `within ${DELIVERY_MS_MAX / 1000} s`;
    throw new NotAsPromised(`the rollback at the wallet ${waited}`, `a bet still ${status}`);
  }
}
