import { SendPermit } from '../../../src/operations/attempt.ts';
import { recordDelivery, tryDelivery } from '../../../src/operations/deliver.ts';
import type { BetSlip } from '../../../src/protocol/callback-bodies.ts';
import type { Done } from './deed.ts';
import type { ScriptedWallet } from './scripted-wallet.ts';
import { type Act, carry, type Messages, type Sent } from './service.ts';
import type { Lane, Replica } from './world.ts';

/** One run as the service saw it. */
export interface Lived {
  readonly slip: BetSlip;
  readonly messages: Messages;
  readonly sent: Sent[];
  readonly wallet: ScriptedWallet;
  readonly isPlacedElsewhere: boolean;
  /** What people did. */
  readonly done: Done[];
  /** The delivery that people were called for; empty: none. */
  deliveryId: string;
  /** What they would book themselves. */
  byHand: { readonly result: string } | 'rollback';
  /** Counts the steps. */
  moment: number;
}

/** Sends one message. */
export async function send(replica: Replica, lived: Lived, act: Act): Promise<Sent> {
  const message = lived.messages.of(act);
  const sent: Sent = {
    message,
    from: lived.moment,
    to: Number.POSITIVE_INFINITY,
    answer: undefined,
  };
  lived.sent.push(sent);
  sent.answer = await carry(replica, message);
  sent.to = lived.moment;
  return sent;
}

/** Whether the service accepts the answer as final. */
export function isFinal({ answer }: Sent): boolean {
  return answer !== undefined && answer.status < 500;
}

/** One look of the delivery worker at the queue: claims what is due, and delivers it. */
export async function work(lane: Lane, replica: Replica): Promise<number> {
  const permit = new SendPermit(replica.clock);
  const generation = replica.generation();
  const { taken } = await replica.store.take(lane.operatorId, { generation, limit: 10 });
  for (const one of taken) {
    const wallet = replica.wallets.get(lane.operatorId);
    if (wallet === undefined) continue;
    await recordDelivery(replica, await tryDelivery(replica, wallet, one, permit, generation));
  }
  return taken.length;
}
