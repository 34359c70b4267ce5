import { codeOf } from '../../simulator/service-answers.ts';
import { NotAsPromised } from '../narrator.ts';
import {
  answerOf,
  balanceMoved,
  balanceOf,
  confirmed,
  money,
  nameOf,
  type Scene,
} from './scene.ts';

const STAKE = '8.00';

/** The wallet debits and breaks the connection: code 100, and the service rolls the bet back. */
export async function brokenConnection(scene: Scene): Promise<void> {
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
