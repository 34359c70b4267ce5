import { confirmDue } from '../../../src/deliveries/confirm.ts';
import { perform } from './deeds.ts';
import { isFinal, type Lived, send, work } from './lived.ts';
import type { Act, Sent } from './service.ts';
import type { Lane, Replica, World } from './world.ts';

const ROUNDS_MAX = 12;

/**
 * What time and the protocol repair: leases end, the service repeats everything without a final answer and rolls
 * back places that were answered 100, promises are delivered, late calls take effect, and the current state is
 * confirmed.
 */
export async function heal(world: World, lane: Lane, lived: Lived): Promise<void> {
  const replica = lane.replica();
  const { transactionId } = lived.slip;
  const due = async () => {
    await world.sql(
      'lease-ends',
      `UPDATE bets SET busy_until = clock_timestamp() - interval '1 s'
        WHERE transaction_id = $1 AND busy_attempt IS NOT NULL`,
      [transactionId],
    );
    const bet = await replica.bets.find(transactionId);
    if (bet?.busy !== undefined) await replica.bets.recover(transactionId, bet.busy.attemptId);
    // Well past: times are kept in whole milliseconds, so that the present one may be rounded to one that is to come.
    await world.sql(
      'deliveries-due',
      `UPDATE deliveries SET next_attempt_at = clock_timestamp() - interval '1 s', held = false
        WHERE transaction_id = $1 AND state IN ('live', 'pending')`,
      [transactionId],
    );
  };
  const bringHome = async () => {
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      await due();
      if ((await work(lane, replica)) === 0) return;
    }
  };
  if (lane.generation > 1 || lived.done.some(({ deed }) => deed === 'release')) {
    if (lived.wallet.releasedTo !== lane.generation)
      await perform(world, lane, replica, lived, 'release');
  }
  await due();
  await closeByHand(world, lane, lived);
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const open = openActs(lived);
    if (open.size === 0) break;
    for (const act of open) {
      lived.moment += 1;
      await send(replica, lived, act);
    }
    await bringHome();
    await closeByHand(world, lane, lived);
  }
  await bringHome();
  await closeByHand(world, lane, lived);
  await bringHome();
  for (const left of [2, 1]) {
    lived.wallet.landLate();
    await untilConfirmed(world, replica, lived, left, bringHome);
  }
}

/** People look at what is left to them. */
async function closeByHand(world: World, lane: Lane, lived: Lived): Promise<void> {
  const { transactionId } = lived.slip;
  const replica = lane.replica();
  const dead = await world.look(
    'dead-letters',
    `SELECT id::text FROM deliveries WHERE transaction_id = $1 AND state = 'dead' ORDER BY id`,
    [transactionId],
  );
  for (const { id } of dead) {
    lived.deliveryId = id ?? '';
    await perform(world, lane, replica, lived, 'retry');
    if (lived.done.at(-1)?.answer === 'overtaken') {
      await perform(world, lane, replica, lived, 'resolve');
    }
  }
  const bet = await world.bet(transactionId);
  const isInDoubt = bet?.settlement.kind === 'unknown' && bet.rollback.kind === 'none';
  if (lived.done.length === 0 || !isInDoubt || bet.deliveries.length > 0) return;
  await world.sql(
    'long-ago',
    `UPDATE bets SET late_at = late_at - interval '2 hours' WHERE transaction_id = $1`,
    [transactionId],
  );
  await perform(world, lane, replica, lived, 'say');
}

/** Lets confirmations come due until fewer than `left` remain. */
async function untilConfirmed(
  world: World,
  replica: Replica,
  { slip: { transactionId } }: Lived,
  left: number,
  bringHome: () => Promise<void>,
): Promise<void> {
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const bet = await replica.bets.find(transactionId);
    if (bet?.late === undefined || bet.late.confirmationsLeft < left) return;
    await world.sql(
      'confirm-now',
      `UPDATE bets SET late_at = clock_timestamp() - interval '1 hour',
                      confirm_at = clock_timestamp() - interval '1 s'
        WHERE transaction_id = $1`,
      [transactionId],
    );
    const confirmations = world.confirmationsOf(transactionId);
    await confirmDue({ ...replica, confirmations });
    await bringHome();
  }
}

/** What the service has to repeat, and a rollback of a place that was answered 100. */
function openActs({ sent }: Lived): ReadonlySet<Act> {
  const acts = new Set<Act>();
  for (const { message } of sent) {
    const own = sent.filter((one) => one.message.id === message.id);
    if (message.kind !== 'place' && !own.some(isFinal)) acts.add(message.id);
    if (message.kind === 'place' && own.some(isLeftOpen)) {
      const isClosed = sent.some((one) => one.message.kind === 'rollback' && isFinal(one));
      if (!isClosed) acts.add('rollback');
    }
  }
  return acts;
}

function isLeftOpen({ answer }: Sent): boolean {
  return answer === undefined || answer.body.includes('"code":100');
}
