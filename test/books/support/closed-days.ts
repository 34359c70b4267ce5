import { createHash } from 'node:crypto';
import { closeDueDays } from '../../../src/books/close-days.ts';
import { statementCsv } from '../../../src/books/statement-digest.ts';
import { Statements } from '../../../src/store/books/statements.ts';
import type { TestBet } from '../../support/bet.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';

const DAY_MS = 86_400_000;

/** The day this many days before today, as `2026-11-20`, in UTC. */
export const dayBefore = (days: number) =>
  new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

export const AT_ONCE = { timeZone: 'UTC', closeAfterMinutes: 0, closeAtLatestMinutes: 60_000 };

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Dates a whole bet back by this many days, before it is booked. */
export async function age({ gateway, transactionId }: TestBet, days: number): Promise<void> {
  const of = 'WHERE transaction_id = $1';
  const ago = `make_interval(days => ${days})`;
  await onServer(gateway.databaseUrl, async (client) => {
    await client.query(
      `UPDATE attempts SET started_at = started_at - ${ago}
        WHERE operation_id IN (SELECT id FROM operations ${of})`,
      [transactionId],
    );
    await client.query(`UPDATE bets SET created_at = created_at - ${ago} ${of}`, [transactionId]);
  });
}

/** Closes each operator's next day that is due. @returns `alpha 2026-11-20` for each */
export async function closeNext(gateway: TestGateway, times = AT_ONCE): Promise<string[]> {
  const { database } = gateway.parts;
  const { closed, failed } = await closeDueDays(database, gateway.databaseUrl, times);
  for (const { error } of failed) throw error;
  return closed.map(({ operatorId, day }) => `${operatorId} ${day}`);
}

export async function csvOf(
  gateway: TestGateway,
  operatorId: string,
  day: string,
): Promise<string> {
  let csv = '';
  const statements = new Statements(gateway.parts.database);
  for await (const piece of statementCsv(statements, operatorId, day)) csv += piece;
  return csv;
}
