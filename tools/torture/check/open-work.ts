import { withClient } from '../with-client.ts';

/**
 * Whether the gateway still has work to do for these bets. Reads the database directly, only to avoid waiting for
 * what cannot come; no finding depends on it.
 */
const OPEN_WORK = `
  SELECT EXISTS (
    SELECT 1 FROM bets b
     WHERE b.transaction_id = ANY ($1)
       AND (b.busy_attempt IS NOT NULL OR b.confirm_at IS NOT NULL
            OR b.rollback = 'none' AND (b.place = 'unknown' OR b.place_answered_unknown)
            OR EXISTS (SELECT 1 FROM deliveries d
                        WHERE d.transaction_id = b.transaction_id
                          AND d.state IN ('live', 'pending')))) AS is_open`;

export async function hasOpenWork(databaseUrl: string, ids: readonly string[]): Promise<boolean> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ is_open: boolean }>(OPEN_WORK, [ids]);
    return rows[0]?.is_open ?? true;
  });
}
