import { expect, vi } from 'vitest';
import type { SimulatedService } from '../../../tools/simulator/service.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';
import type { Deployment } from '../../process/support/deployment.ts';

/** Leases last 15 s, and the repeated rollbacks of unknown places follow them. */
const HOME_MS = 90_000;

/**
 * Makes 43 s of the service's six minutes of repeats: still long enough for several after the lease of a killed
 * process's attempt.
 */
export const RETRY_SCALE = 0.12;

const OPEN = `
  SELECT (SELECT count(*) FROM deliveries WHERE state IN ('live', 'pending'))::int AS deliveries,
         (SELECT count(*) FROM bets WHERE busy_attempt IS NOT NULL)::int AS busy,
         (SELECT count(*) FROM bets WHERE place = 'unknown' AND rollback <> 'confirmed')::int
           AS unresolved`;

type Asks = Pick<Deployment, 'query'>;

/** Waits until every promise is kept and no outcome is open. */
export async function allHome(deployment: Asks): Promise<void> {
  const nothing = [{ deliveries: 0, busy: 0, unresolved: 0 }];
  const limits = { timeout: HOME_MS, interval: 200 };
  // Not expect.poll, which does not know its test when several run concurrently.
  await vi.waitFor(async () => expect(await deployment.query(OPEN)).toEqual(nothing), limits);
}

/**
 * Contradictions within the journal, or between it and the answers to the service, in words: each transaction must
 * exist once, its place must be sent at most once, and nothing may be given up.
 */
export async function journalFaults(
  deployment: Asks,
  service: SimulatedService,
  wallets: readonly SimulatedWallet[],
): Promise<readonly string[]> {
  const dead = await deployment.query<{ id: string }>(
    `SELECT id FROM deliveries WHERE state = 'dead'`,
  );
  const twice = await deployment.query<{ transaction_id: string }>(
    `SELECT transaction_id FROM operations WHERE operation = 'place' AND NOT is_copy
      GROUP BY transaction_id HAVING count(*) > 1`,
  );
  const rows = await deployment.query<JournalRow>(
    'SELECT transaction_id, place, rollback, settlement, settlement_amount FROM bets',
  );
  const journal = new Map(rows.map((row) => [row.transaction_id, row]));
  return [
    ...dead.map(({ id }) => `delivery ${id} is dead`),
    ...twice.map(({ transaction_id }) => `bet ${transaction_id} was begun twice`),
    ...service.books().bets.flatMap(({ transactionId, state, paid }) => {
      const row = journal.get(transactionId);
      if (agrees(row, state, paid)) return [];
      return [`bet ${transactionId}: ${state} ${paid}, the journal says ${JSON.stringify(row)}`];
    }),
    ...service.books().bets.flatMap(({ transactionId }) => {
      const arrivals = wallets.flatMap((wallet) => wallet.arrivals(transactionId, 'place'));
      return arrivals.length > 1 ? [`the place of ${transactionId} was sent twice (I5)`] : [];
    }),
  ];
}

interface JournalRow {
  readonly transaction_id: string;
  readonly place: string;
  readonly rollback: string;
  readonly settlement: string;
  readonly settlement_amount: string | null;
}

function agrees(row: JournalRow | undefined, state: string, paid: string): boolean {
  switch (state) {
    case 'accepted':
      return row?.place === 'accepted' && row.rollback === 'none' && row.settlement !== 'settled';
    case 'settled':
      return row?.rollback === 'none' && row.settlement_amount === paid;
    case 'declined':
      return row?.place === 'declined';
    case 'rolled_back':
      return row?.rollback === 'confirmed';
    default:
      return false;
  }
}
