import type { BetRecord } from '../service/record.ts';
import { withClient } from '../with-client.ts';
import type { Finding } from './finding.ts';

/** What the gateway still promises when nothing more can happen. */
export async function deliveryFindings(
  adminUrl: string,
  adminToken: string,
  records: readonly BetRecord[],
): Promise<Finding[]> {
  const bets = new Map(records.map((record) => [record.transactionId, record.plan.id]));
  const response = await fetch(`${adminUrl}/admin/deliveries?state=pending`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const text = await response.text();
  if (response.status !== 200) {
    const why = `the gateway does not tell what it has promised: ${response.status} ${text}`;
    return [{ kind: 'undelivered', bet: undefined, text: why }];
  }
  const page: { readonly items: readonly Readonly<Record<string, unknown>>[] } = JSON.parse(text);
  return page.items.flatMap(({ transactionId, operation, attempts, lastError }): Finding[] => {
    const bet = bets.get(String(transactionId));
    if (bet === undefined) return [];
    const text = `a promised ${operation} is still not delivered (${attempts} attempts, ${lastError})`;
    return [{ kind: 'undelivered', bet, text }];
  });
}

/** The bets of which a person has to decide about a delivery. */
export async function betsLeftToPeople(
  databaseUrl: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  return await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `SELECT DISTINCT transaction_id AS id FROM deliveries
        WHERE state = 'dead' AND transaction_id = ANY ($1)`,
      [ids],
    );
    return new Set(rows.map(({ id }) => id));
  });
}
