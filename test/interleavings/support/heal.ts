import { isFinal, type Lived, send, work } from './lived.ts';
import type { Act, Sent } from './service.ts';
import type { Lane, Replica, World } from './world.ts';

const ROUNDS_MAX = 12;
/** For how long another lane, which looks for due confirmations of all bets, may have a bet locked. */
const LOCKED_MS = 200;

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
    await world.sql(
      'deliveries-due',
      `UPDATE deliveries SET next_attempt_at = clock_timestamp(), held = false
        WHERE transaction_id = $1 AND state IN ('live', 'pending')`,
      [transactionId],
    );
  };
  const hasOpen = async () => {
    const bet = await replica.bets.find(transactionId);
    return bet !== undefined && bet.deliveries.length > 0;
  };
  const bringHome = async () => {
    const lockedUntilMs = performance.now() + LOCKED_MS;
    for (let round = 0; round < ROUNDS_MAX; ) {
      await due();
      if ((await work(world, lane, replica)) > 0) round += 1;
      // A look passes over what is locked; the next one finds it.
      else if (performance.now() > lockedUntilMs || !(await hasOpen())) return;
    }
  };
  await due();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const open = openActs(lived);
    if (open.size === 0) break;
    for (const act of open) {
      lived.moment += 1;
      await send(world, replica, lived, act);
    }
    await bringHome();
  }
  await bringHome();
  for (const left of [2, 1]) {
    lived.wallet.landLate();
    await untilConfirmed(world, replica, lived, left, bringHome);
    // Another lane may have found the confirmation: then it is not delivered yet.
    await bringHome();
  }
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
      `UPDATE bets SET late_at = clock_timestamp() - interval '1 hour', confirm_at = clock_timestamp()
        WHERE transaction_id = $1`,
      [transactionId],
    );
    await world.source.confirmDue(replica);
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
