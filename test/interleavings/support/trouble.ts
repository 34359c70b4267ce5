import { type Lived, send, work } from './lived.ts';
import type { Lane, World } from './world.ts';

/**
 * What people are called for: a result of unknown outcome; the dead letter of a result or of a rollback; a promised
 * result that nobody could bring yet, and one whose next attempt is the last.
 */
export type Trouble = 'doubt' | 'dead' | 'dead rollback' | 'pending' | 'overdue';

const LOOKS_MS = 2_000;

/** A call gets no answer, and whatever is late by nature has come by now. */
export async function getIntoTrouble(
  world: World,
  lane: Lane,
  lived: Lived,
  trouble: Trouble,
  isTaken: boolean,
): Promise<void> {
  const { transactionId } = lived.slip;
  const { wallet } = lived;
  const fails = () => {
    wallet.next = isTaken ? 'lost' : 'missed';
  };
  fails();
  const isRollback = trouble === 'dead rollback';
  if (isRollback) lived.byHand = 'rollback';
  await send(lane.replica(), lived, isRollback ? 'rollback' : 'settle 20');
  if (trouble === 'dead' || isRollback || trouble === 'overdue')
    await overdue(world, transactionId);
  if ((trouble === 'dead' && !wallet.callerDialect.holdUnknownRepeats) || isRollback) {
    fails();
    // A look passes over what is locked, and a late claim is not sent; an order that takes this long is played again.
    const endsAtMs = performance.now() + LOOKS_MS;
    while (wallet.next !== undefined && performance.now() < endsAtMs) {
      await work(lane, lane.replica());
    }
  }
  wallet.next = undefined;
  await world.sql(
    'long-ago',
    `UPDATE bets SET late_at = late_at - interval '2 hours' WHERE transaction_id = $1`,
    [transactionId],
  );
  await world.sql(
    'due-now',
    `UPDATE deliveries SET next_attempt_at = clock_timestamp() - interval '1 s' WHERE transaction_id = $1 AND state = 'pending'`,
    [transactionId],
  );
  const [one] = await world.look(
    'called-for',
    'SELECT id::text, state, attempts::text FROM deliveries WHERE transaction_id = $1 ORDER BY id DESC LIMIT 1',
    [transactionId],
  );
  lived.deliveryId = one?.id ?? '';
  const expected = { doubt: undefined, dead: 'dead', 'dead rollback': 'dead' };
  const state = trouble in expected ? Reflect.get(expected, trouble) : 'pending';
  if (one?.state !== state) {
    throw new Error(`${trouble} began as ${one?.state} after ${one?.attempts} attempts`);
  }
}

async function overdue(world: World, transactionId: string): Promise<void> {
  await world.sql(
    'overdue',
    `UPDATE deliveries SET dead_at = clock_timestamp() - interval '1 s', next_attempt_at = clock_timestamp() - interval '1 s'
      WHERE transaction_id = $1`,
    [transactionId],
  );
}
