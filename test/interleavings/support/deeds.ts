import { confirmDue } from '../../../src/deliveries/confirm.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { BY } from '../../support/audit.ts';
import type { Deed, Done } from './deed.ts';
import { Gates } from './gates.ts';
import type { Lived } from './lived.ts';
import { work } from './lived.ts';
import { wordOf } from './people.ts';
import type { Lane, Replica, World } from './world.ts';

/** Does one deed. */
export async function perform(
  world: World,
  lane: Lane,
  replica: Replica,
  lived: Lived,
  deed: Deed,
): Promise<void> {
  if (deed === 'work') {
    await work(lane, replica);
    return;
  }
  if (deed === 'confirm') {
    const confirmations = world.confirmationsOf(lived.slip.transactionId);
    await confirmDue({ ...replica, confirmations });
    return;
  }
  if (deed === 'raise' || deed === 'lower') {
    const step = { kind: 'write', label: `${deed}s the generation`, faults: [] } as const;
    await Gates.pass(step, async () => {
      await Promise.resolve();
      lane.generation = deed === 'raise' ? 2 : 1;
    });
    return;
  }
  const done: Done = { deed, answer: undefined };
  lived.done.push(done);
  try {
    done.answer = await act(world, lane, lived, deed);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
  }
}

async function act(
  { people }: World,
  { operatorId, generation }: Lane,
  lived: Lived,
  deed: 'retry' | 'retry all' | 'resolve' | 'say' | 'release',
): Promise<string> {
  const { deliveryId, slip, wallet } = lived;
  switch (deed) {
    case 'release':
      wallet.beginRelease(generation);
      await people.releases.release(operatorId, { upTo: 2, to: generation }, BY);
      wallet.endRelease();
      return 'released';
    case 'say': {
      const { result } = await wallet.look();
      return await people.say(slip.transactionId, result);
    }
    case 'retry all': {
      const { retried } = await people.deliveries.retrySome(operatorId, 'dead', {}, BY);
      return `${retried} retried`;
    }
    case 'retry':
      // Where a repeat is paid twice, nobody asks for it who has found the first.
      if (wallet.callerDialect.holdUnknownRepeats && (await wallet.look()).result !== undefined) {
        return wordOf(await people.deliveries.resolve(deliveryId, 'ann', 'it is there', BY));
      }
      return wordOf(await people.deliveries.retry(deliveryId, BY));
    case 'resolve':
      await wallet.bookByHand(lived.byHand);
      return wordOf(await people.deliveries.resolve(deliveryId, 'ann', 'booked by hand', BY));
  }
}
